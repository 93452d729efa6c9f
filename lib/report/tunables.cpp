// SPDX-License-Identifier: Apache-2.0
#include "report/figures.hpp"
#include "report/html_text.hpp"
#include "report/wording.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

namespace cudal1::report {

namespace {

constexpr std::size_t most_families = 4, most_tunables = 6;
constexpr Frame plot_frame{230, 150, 52, 10, 10, 34};

using outcome::TriedMember;

// Times over one tunable's values, evenly spaced; members that are not right lie on the floor as crosses.
std::string plot(const outcome::Judgement& judgement, const std::string& tunable) {
  std::map<std::int64_t, int> places;
  double least = HUGE_VAL, most = 0;
  for (const TriedMember& member : judgement.members) {
    if (member.tunables.contains(tunable)) places.emplace(member.tunables.at(tunable), 0);
    if (member.ms > 0) least = std::min(least, member.ms), most = std::max(most, member.ms);
  }
  int count = 0;
  for (auto& [value, place] : places) place = count++;
  const auto x = [&](std::int64_t value) { return plot_frame.left + (places.at(value) + 0.5) / count * (plot_frame.width - plot_frame.left - plot_frame.right); };
  const auto y = [&](double ms) { return most > least ? plot_frame.top + std::log(most / ms) / std::log(most / least) * (plot_frame.height - plot_frame.top - plot_frame.bottom) : plot_frame.top + (plot_frame.height - plot_frame.top - plot_frame.bottom) / 2; };
  std::string svg;
  for (const double ms : most > least ? std::vector<double>{least, most} : std::vector<double>{least})
    svg += fmt::format("<line x1='{}' x2='{}' y1='{:.0f}' y2='{:.0f}' class='grid'/><text x='{}' y='{:.0f}' text-anchor='end'>{:.3g}</text>\n", plot_frame.left, plot_frame.width - plot_frame.right, y(ms), y(ms), plot_frame.left - 5, y(ms) + 4, ms);
  for (const auto& [value, place] : places) svg += fmt::format("<text x='{:.0f}' y='{}' text-anchor='middle'>{}</text>\n", x(value), plot_frame.height - plot_frame.bottom + 17, value);
  for (const TriedMember& member : judgement.members) {
    if (!member.tunables.contains(tunable)) continue;
    const double at = x(member.tunables.at(tunable));
    const std::string said = escaped(sizes(member.tunables));
    if (member.ms > 0)
      svg += fmt::format("<circle cx='{:.0f}' cy='{:.0f}' r='4'{}><title>{}: {}</title></circle>\n", at, y(member.ms), member.tunables == judgement.tunables ? " class='reference'" : "", said,
                         milliseconds(member.ms));
    else if (!member.problem.empty())
      svg += fmt::format("<text x='{:.0f}' y='{}' class='wrong' text-anchor='middle'>×<title>{}</title></text>\n", at, plot_frame.height - plot_frame.bottom + 4, said);
  }
  return fmt::format("<figure><svg viewBox='0 0 {0} {1}' class='small' role='img' aria-label='Time over {2}'>\n{3}</svg><figcaption>{2}</figcaption></figure>\n", plot_frame.width, plot_frame.height, escaped(tunable), svg);
}

}  // namespace

std::string tunables_html(const store::Run& run) {
  std::vector<const search::Variant*> families;
  for (const auto& variant : run.result.variants)
    if (variant.right() && std::count_if(variant.judgement.members.begin(), variant.judgement.members.end(), [](const TriedMember& one) { return one.ms > 0; }) > 1) families.push_back(&variant);
  std::stable_sort(families.begin(), families.end(), [](const auto* a, const auto* b) { return a->score() > b->score(); });
  families.resize(std::min(families.size(), most_families));
  if (families.empty()) return "";
  std::string html = "<h2>What tunables change</h2>\n<p>Milliseconds of each member that was tried, at the first workload; the ring is the one that was taken.</p>\n";
  for (const auto* variant : families) {
    std::map<std::string, std::set<std::int64_t>> values;
    for (const TriedMember& member : variant->judgement.members)
      for (const auto& [name, value] : member.tunables) values[name].insert(value);
    html += fmt::format("<h3><a href=\"#{0}\">{0}</a></h3>\n<div class=\"plots\">\n", escaped(variant->id));
    std::size_t drawn = 0;
    for (const auto& [name, distinct] : values)
      if (distinct.size() > 1 && drawn++ < most_tunables) html += plot(variant->judgement, name);
    html += "</div>\n";
  }
  return html;
}

}  // namespace cudal1::report
