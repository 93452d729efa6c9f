// SPDX-License-Identifier: Apache-2.0
#include "report/judgement_table.hpp"

#include "base/text.hpp"
#include "outcome/counter_fields.hpp"
#include "report/formats.hpp"
#include "report/wording.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace cudal1::report {

namespace {

// How far a variant was verified.
std::string verified(const outcome::Judgement& judgement) {
  const auto& errors = judgement.errors;
  std::string text = fmt::format("right in {} trials", errors.trials);
  if (errors.relative_l2 > 0)
    text += fmt::format(", with a relative error of {:.1e} at most", errors.relative_l2);
  if (errors.relative_l2 > 0 && errors.reference_relative_l2 > 0)
    text += fmt::format(" (the task's own kernel: {:.1e})", errors.reference_relative_l2);
  if (const auto note = full_size(errors); !note.empty()) text += fmt::format("; {}", note);
  if (const auto note = sanitized(judgement); !note.empty()) text += fmt::format("; {}", note);
  return text;
}

void append_rows(const NamedJudgement& named, Table& table) {
  const auto& judgement = named.judgement;
  if (judgement.workloads.empty()) {
    table.rows.push_back({named.name, verdict(judgement), "", "", "", "", base::printable(judgement.message)});
    return;
  }
  for (const auto& timing : judgement.workloads)
    table.rows.push_back({named.name, verdict(judgement), text(timing.speedup), milliseconds(timing.variant_ms),
                          timing.hot_speedup > 0 ? ratio(timing.hot_speedup) : "", percent(timing.share_of_limit),
                          timing.limited_by});
}

// What the compiler and the launch alone say.
void append_resources(const std::vector<NamedJudgement>& judgements, Table& table) {
  std::vector<std::string> registers{"registers a thread"}, spilled{"bytes spilled"}, occupancy{"occupancy"};
  bool spills = false;
  for (const auto& [name, judgement] : judgements) {
    int most = 0;
    std::size_t bytes = 0;
    for (const auto& kernel : judgement.resources) {
      most = std::max(most, kernel.registers);
      bytes += kernel.spill_store_bytes + kernel.spill_load_bytes;
    }
    spills = spills || bytes > 0;
    const bool known = !judgement.resources.empty();
    registers.push_back(known ? std::to_string(most) : "");
    spilled.push_back(known ? std::to_string(bytes) : "");
    occupancy.push_back(known && judgement.occupancy > 0
                            ? fmt::format("{}, by {}", percent(judgement.occupancy), judgement.occupancy_limited_by)
                            : "");
  }
  table.rows.push_back(std::move(registers));
  if (spills) table.rows.push_back(std::move(spilled));
  table.rows.push_back(std::move(occupancy));
}

Table counter_table(const std::vector<NamedJudgement>& judgements) {
  Table table{{"counter"}, {}, {false}};
  for (const auto& named : judgements) table.columns.push_back(named.name), table.numeric.push_back(true);
  for (const auto& field : outcome::counter_fields) {
    std::vector<std::string> row{std::string(field.name)};
    bool any = false;
    for (const auto& named : judgements) {
      const double value = named.judgement.counters.*field.member;
      any = any || value != 0;
      row.push_back(named.judgement.workloads.empty() ? "" : fmt::format("{:.6g}", value));
    }
    if (any) table.rows.push_back(std::move(row));
  }
  std::set<std::string> names;
  for (const auto& named : judgements)
    for (const auto& [name, value] : named.judgement.hardware) names.insert(name);
  for (const auto& name : names) {
    std::vector<std::string> row{name};
    for (const auto& named : judgements) {
      const auto found = named.judgement.hardware.find(name);
      row.push_back(found == named.judgement.hardware.end() ? "" : fmt::format("{:.4g}", found->second));
    }
    table.rows.push_back(std::move(row));
  }
  for (const auto& [name, share] : {std::pair{"share of the memory bandwidth", &outcome::WorkloadTiming::share_of_bandwidth},
                                    std::pair{"share of the arithmetic peak", &outcome::WorkloadTiming::share_of_arithmetic}}) {
    std::vector<std::string> row{name};
    for (const auto& named : judgements)
      row.push_back(named.judgement.workloads.empty() ? "" : percent(named.judgement.workloads.front().*share));
    table.rows.push_back(std::move(row));
  }
  append_resources(judgements, table);
  return table;
}

// A variant against every way to run the task in PyTorch; the fastest of these is marked.
Table baseline_table(const std::vector<NamedJudgement>& judgements) {
  Table table{{"variant", "PyTorch", "time", "speed-up"}, {}, {false, false, true, true}};
  for (const auto& [name, judgement] : judgements) {
    double least = 0;
    for (const auto& baseline : judgement.baselines)
      if (baseline.failed.empty() && (least == 0 || baseline.ms < least)) least = baseline.ms;
    for (const auto& baseline : judgement.baselines)
      table.rows.push_back({name, baseline.name + (baseline.failed.empty() && baseline.ms == least ? " (fastest)" : ""),
                            baseline.failed.empty() ? milliseconds(baseline.ms) : "",
                            baseline.speedup ? text(*baseline.speedup) : base::printable(baseline.failed)});
  }
  return table;
}

Table line_table(const NamedJudgement& named) {
  Table table{{"line", "instructions", "active lanes", "load sectors", "store sectors", "shared wavefronts", "atomic steps"},
              {},
              std::vector<bool>(7, true)};
  for (const auto& [line, counters] : named.judgement.hot_lines)
    table.rows.push_back({std::to_string(line), fmt::format("{:.6g}", counters.warp_instructions),
                          fmt::format("{:.1f}", counters.lane_instructions / std::max(1.0, counters.warp_instructions)),
                          fmt::format("{:.6g}", counters.global_load_sectors),
                          fmt::format("{:.6g}", counters.global_store_sectors),
                          fmt::format("{:.6g}", counters.shared_wavefronts),
                          fmt::format("{:.6g}", counters.atomic_serial_steps)});
  return table;
}

}  // namespace

std::string judgement_table(const std::vector<NamedJudgement>& judgements, const Style& style, bool counters) {
  Document document;
  Table table{{"variant", "verdict", "speed-up", "time", "hot", "of limit", "limited by"},
              {},
              {false, false, true, true, true, true, false}};
  for (const auto& named : judgements) append_rows(named, table);
  document.push_back(std::move(table));
  if (Table beside = baseline_table(judgements); !beside.rows.empty()) document.push_back(std::move(beside));
  for (const auto& named : judgements) {
    if (const auto said = kernelbench(named.judgement.errors.kernelbench_tolerance); !said.empty())
      document.push_back(Paragraph{fmt::format("{}: {}", named.name, said)});
    for (const auto label : named.judgement.labels)
      if (const auto sentence = explanation(label); !sentence.empty())
        document.push_back(Paragraph{fmt::format("{}: {}: {}", named.name, outcome::name(label), sentence)});
  }
  for (const auto& [name, judgement] : judgements)
    if (outcome::is_right(judgement.verdict) && judgement.errors.trials > 0)
      document.push_back(Paragraph{fmt::format("{}: {}", name, verified(judgement))});
  for (const auto& [name, judgement] : judgements) {
    const auto text = base::printable(evidence(judgement));
    const auto message = base::printable(judgement.message);
    const auto heading = message.starts_with(name) ? message : fmt::format("{}: {}", name, message);
    if (!text.empty()) {
      document.push_back(Heading{2, heading});
      document.push_back(Code{"", text});
    } else if (judgement.workloads.empty()) {
      document.push_back(Paragraph{heading});
    }
    if (message.find("what rounding explains") != std::string::npos)
      document.push_back(Paragraph{"Where the task permits a larger error, it says so in a line such as //@ tolerance = 1e-3"});
  }
  if (counters) {
    document.push_back(Heading{2, "Counters, of the whole plan at the first workload"});
    document.push_back(counter_table(judgements));
    for (const auto& named : judgements) {
      if (named.judgement.hardware_problem.empty()) continue;
      document.push_back(Paragraph{fmt::format("Nothing was counted in hardware: {}.", named.judgement.hardware_problem)});
      break;
    }
    for (const auto& named : judgements) {
      if (named.judgement.hot_lines.empty()) continue;
      document.push_back(Heading{2, fmt::format("{}: the busiest lines", named.name)});
      document.push_back(line_table(named));
    }
  }
  return draw_for_terminal(document, style);
}

}  // namespace cudal1::report
