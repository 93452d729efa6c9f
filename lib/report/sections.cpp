// SPDX-License-Identifier: Apache-2.0
#include "report/sections.hpp"

#include "base/text.hpp"
#include "report/wording.hpp"
#include "search/ablation.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::report {

namespace {

struct Row {
  const char* name;
  double (*value)(const outcome::Counters&);
};

using Counters = outcome::Counters;

constexpr double sector_bytes = 32;

// What a person asks first, in the order of asking.
constexpr Row rows[] = {
    {"warp instructions", [](const Counters& c) { return c.warp_instructions; }},
    {"fp32 operations", [](const Counters& c) { return c.fp32_flops; }},
    {"tensor operations", [](const Counters& c) { return c.tensor_flops; }},
    {"global memory traffic, bytes", [](const Counters& c) { return (c.global_load_sectors + c.global_store_sectors) * sector_bytes; }},
    {"of it from DRAM, bytes", [](const Counters& c) { return c.dram_read_bytes + c.dram_write_bytes; }},
    {"sectors per request (4: ideal for 4-byte accesses)", [](const Counters& c) { return c.sectors_per_request(); }},
    {"shared-memory wavefronts", [](const Counters& c) { return c.shared_wavefronts; }},
    // A GPU counts wavefronts, not how few would have done.
    {"bank conflicts, extra wavefronts",
     [](const Counters& c) { return c.shared_requests > 0 ? c.shared_wavefronts - c.shared_requests : 0; }},
    {"divergent branches", [](const Counters& c) { return c.divergent_branches; }},
    {"barriers", [](const Counters& c) { return c.barriers; }},
    {"atomic steps in series", [](const Counters& c) { return c.atomic_serial_steps; }},
};

std::string count(double value) {
  if (value < 100) return fmt::format("{:.3g}", value);
  static constexpr const char* units[] = {"", " k", " M", " G", " T"};
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < std::size(units)) value /= 1000, ++unit;
  return fmt::format("{:.{}f}{}", value, value >= 100 ? 0 : 1, units[unit]);
}

std::string wording(search::Together together) {
  switch (together) {
    case search::Together::multiply: return "as the product of the two";
    case search::Together::need: return "less than the product: they need each other";
    case search::Together::replace: return "more than the product: either can replace the other";
    case search::Together::unknown: return "";
  }
  return "";
}

}  // namespace

void append_counters(const outcome::Judgement& reference, const outcome::Judgement& variant, Document& out) {
  Table table{{"counter", "reference", "winner"}, {}, {false, true, true}};
  const auto shown = [](const Counters& counters, double value) { return counters.warp_instructions > 0 ? count(value) : ""; };
  for (const auto& row : rows) {
    const double before = row.value(reference.counters), after = row.value(variant.counters);
    if (before > 0 || after > 0) table.rows.push_back({row.name, shown(reference.counters, before), shown(variant.counters, after)});
  }
  for (const auto& [name, after] : variant.hardware) {
    if (!name.ends_with("_share")) continue;
    const auto before = reference.hardware.find(name);
    std::string words = "of the peak: " + name.substr(0, name.size() - 6);
    std::replace(words.begin(), words.end(), '_', ' ');
    table.rows.push_back({words, before == reference.hardware.end() ? "" : percent(before->second), percent(after)});
  }
  if (!table.rows.empty()) out.push_back(std::move(table));
}

void append_baselines(const outcome::Judgement& judgement, Document& out) {
  if (judgement.baselines.empty()) return;
  Table table{{"PyTorch", "time", "speed-up over it"}, {}, {false, true, true}};
  for (const auto& baseline : judgement.baselines)
    table.rows.push_back({baseline.name, baseline.failed.empty() ? milliseconds(baseline.ms) : "",
                          baseline.speedup ? text(*baseline.speedup) : base::printable(baseline.failed)});
  out.push_back(std::move(table));
}

void append_rejections(const store::Run& run, Document& out) {
  struct Group {
    std::vector<std::string> ids;
    std::string first;
  };
  std::map<std::string, Group> groups;
  for (const auto& variant : run.result.variants) {
    const bool judged = variant.status == search::Variant::Status::judged;
    if (variant.right() || variant.status == search::Variant::Status::duplicate) continue;
    Group& group = groups[judged ? verdict(variant.judgement) : std::string(search::name(variant.status))];
    if (group.ids.empty()) group.first = judged ? variant.judgement.message : variant.reason;
    group.ids.push_back(variant.id);
  }
  if (groups.empty()) return;
  std::vector<std::pair<std::string, Group>> order(groups.begin(), groups.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second.ids.size() > b.second.ids.size(); });
  out.push_back(Heading{2, "What was rejected, and why"});
  Table table{{"reason", "answers", "which", "the first"}, {}, {false, true, false, false}};
  for (const auto& [reason, group] : order)
    table.rows.push_back({reason, std::to_string(group.ids.size()), fmt::format("{}", fmt::join(group.ids, ", ")), base::printable(group.first)});
  out.push_back(std::move(table));
}

void append_resources(const outcome::Judgement& judgement, Document& out) {
  if (judgement.resources.empty()) return;
  Table table{{"kernel", "registers", "shared memory", "spills", "max threads"}, {}, {false, true, true, true, true}};
  for (const auto& facts : judgement.resources)
    table.rows.push_back({facts.kernel, std::to_string(facts.registers), bytes(static_cast<double>(facts.shared_bytes)),
                          bytes(static_cast<double>(facts.spill_store_bytes + facts.spill_load_bytes)),
                          facts.max_threads_per_block > 0 ? std::to_string(facts.max_threads_per_block) : ""});
  out.push_back(std::move(table));
  for (const auto& facts : judgement.resources)
    if (!facts.serialized_wgmma.empty())
      out.push_back(Paragraph{fmt::format("ptxas serialises the wgmma instructions of {}: {}.", facts.kernel, facts.serialized_wgmma)});
  if (judgement.occupancy > 0)
    out.push_back(Paragraph{fmt::format("Occupancy {}, limited by {}.", percent(judgement.occupancy), judgement.occupancy_limited_by)});
  if (!judgement.tunables.empty()) out.push_back(Paragraph{fmt::format("Tunables: {}.", sizes(judgement.tunables))});
}

void append_ablation(const search::Result& result, Document& out) {
  const auto ablation = search::ablation(result);
  if (!ablation) return;
  out.push_back(Paragraph{fmt::format("What {}'s techniques brought: the time without them divided by the time with them.",
                                      ablation->winner->id)});
  Table table{{"without", "factor", "answer", ""}, {}, {false, true, false, false}};
  std::vector<std::string> harmful;
  const auto row = [&](const search::Factor& factor, const std::string& remark) {
    const bool measured = factor.problem.empty();
    const outcome::Speedup value{factor.value, factor.low, factor.high};
    table.rows.push_back({fmt::format("{}", fmt::join(factor.techniques, " and ")), measured ? text(value) : "",
                          factor.without->id, base::printable(measured ? remark : factor.problem)});
    if (measured && factor.high < 1)
      harmful.push_back(fmt::format("{} did harm: it cost {:.0f} % of the time ({} is {} as fast without it).",
                                    fmt::join(factor.techniques, " and "), 100 * (1 - factor.value), ablation->winner->id,
                                    text({1 / factor.value, 1 / factor.high, 1 / factor.low})));
  };
  double product = 1;
  std::size_t known = 0;
  for (const auto& factor : ablation->single) {
    row(factor, factor.low > 1 ? "" : factor.high < 1 ? "harmed" : "no measurable difference");
    if (!factor.problem.empty()) continue;
    product *= factor.value;
    ++known;
  }
  for (const auto& factor : ablation->pairs) row(factor, wording(ablation->together(factor)));
  out.push_back(std::move(table));
  for (auto& line : harmful) out.push_back(Paragraph{std::move(line), Paragraph::Kind::warning});
  if (known > 0 && ablation->winner->verdict().speedup)
    out.push_back(Paragraph{fmt::format("The factors of {} multiply to {}; the whole is {}.",
                                        known == ablation->single.size()
                                            ? "single techniques"
                                            : fmt::format("the {} of {} techniques that are known", known, ablation->single.size()),
                                        ratio(product), text(*ablation->winner->verdict().speedup))});
}

}  // namespace cudal1::report
