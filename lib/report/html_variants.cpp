// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "report/html_text.hpp"
#include "report/wording.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::report {

namespace {

constexpr std::size_t most_source_bytes = 150'000;   // in one page; the best ones first
constexpr double busy = 0.05;                        // a line's share that is worth marking

std::string link(const std::string& id) { return fmt::format("<a href=\"#{0}\">{0}</a>", escaped(id)); }

std::string links(const std::vector<std::string>& ids) {
  std::string text;
  for (const auto& id : ids) text += (text.empty() ? "" : ", ") + link(id);
  return text;
}

// What of the whole kernel's work a line does; empty: little.
std::string share(const outcome::Counters& line, const outcome::Counters& all) {
  std::string text;
  const auto add = [&](const char* what, double part, double whole) {
    if (whole > 0 && part / whole >= busy) text += fmt::format("{}{:.0f} % of the {}", text.empty() ? "" : ", ", 100 * part / whole, what);
  };
  add("instructions", line.warp_instructions, all.warp_instructions);
  add("sectors loaded", line.global_load_sectors, all.global_load_sectors);
  add("sectors stored", line.global_store_sectors, all.global_store_sectors);
  add("shared memory's wavefronts", line.shared_wavefronts, all.shared_wavefronts);
  return text;
}

// Lines are numbered by the page's style, so that copying takes the code alone.
std::string source(const search::Variant& variant) {
  const auto& judgement = variant.verdict();
  std::string text = "<pre class=\"source\" tabindex=\"0\">";
  int number = 0;
  for (const auto& line : base::split_lines(variant.source)) {
    const auto hot = judgement.hot_lines.find(++number);
    const std::string said = hot == judgement.hot_lines.end() ? "" : share(hot->second, judgement.counters);
    text += said.empty() ? fmt::format("<span>{}\n</span>", escaped(line)) : fmt::format("<span class=\"hot\">{}<em>{}</em>\n</span>", escaped(line), said);
  }
  return text + "</pre>\n";
}

std::string origin(const search::Variant& variant) {
  if (!variant.repairs.empty()) return "repairs " + link(variant.repairs);
  if (!variant.reverts.empty()) return fmt::format("{} without {}", link(variant.reverts), escaped(fmt::format("{}", fmt::join(variant.undone, ", "))));
  return variant.exemplars.empty() ? "" : "shown " + links(variant.exemplars);
}

// A browser opens an entry whose inside is linked to, so the id stands there.
std::string entry(const search::Variant& variant, bool best, bool with_source) {
  const auto& judgement = variant.verdict();
  const bool judged = variant.status == search::Variant::Status::judged;
  std::string head = fmt::format("<b>{}</b>{} <span class=\"{}\">{}</span>", escaped(variant.id), best ? " (best)" : "", judged && outcome::is_right(judgement.verdict) ? "added" : "removed",
                                 escaped(judged ? verdict(judgement) : std::string(search::name(variant.status))));
  if (judged && judgement.speedup) head += " " + escaped(text(*judgement.speedup));
  std::string body;
  const auto say = [&](const std::string& what) {
    if (!what.empty()) body += fmt::format("<p>{}</p>\n", what);
  };
  if (!variant.same_as.empty()) say("the same as " + link(variant.same_as));
  say(origin(variant));
  say(escaped(fmt::format("{}", fmt::join(variant.techniques, ", "))));
  say(escaped(base::printable(judged ? judgement.message : variant.reason)));
  if (with_source) body += source(variant);
  else if (!variant.source.empty()) say(fmt::format("its source: variants/{}.cu in the run's folder", escaped(variant.id)));
  return fmt::format("<details><summary>{}</summary>\n<div id=\"{}\">{}</div></details>\n", head, escaped(variant.id), body);
}

// What variants are shown and compared with.
std::string reference_entry(const store::Run& run) {
  search::Variant reference;
  reference.id = "reference";
  reference.source = run.identity.task_source;
  reference.judgement = run.result.start.reference.judgement;
  return fmt::format("<details><summary><b>reference</b> {}</summary>\n<div id=\"reference\">{}</div></details>\n", escaped(run.identity.task_name), source(reference));
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '&': result += "&amp;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += c;
    }
  }
  return result;
}

std::string variants_html(const store::Run& run) {
  const auto& variants = run.result.variants;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < variants.size(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return variants[a].score() > variants[b].score(); });
  std::set<std::size_t> shown;
  std::size_t bytes = 0;
  for (const std::size_t i : order)
    if (!variants[i].source.empty() && bytes + variants[i].source.size() <= most_source_bytes) bytes += variants[i].source.size(), shown.insert(i);
  std::string html = "<h2>Every variant</h2>\n<p>Open one for its source. The busiest lines are marked.</p>\n" + reference_entry(run);
  int round = -1;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (variants[i].key.round != round) {
      round = variants[i].key.round;
      html += round == 0 ? std::string("<h3>Start</h3>\n") : fmt::format("<h3>Round {}</h3>\n", round);
    }
    html += entry(variants[i], run.result.best_index == i, shown.contains(i));
  }
  return variants.empty() ? "" : html;
}

}  // namespace cudal1::report
