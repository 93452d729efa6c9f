// SPDX-License-Identifier: Apache-2.0
#include "report/csv_cell.hpp"
#include "report/formats.hpp"
#include "report/wording.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::report {

namespace {

double milliseconds_of(const outcome::Judgement& judgement) {
  if (judgement.workloads.empty()) return 0;
  double sum = 0;
  for (const auto& timing : judgement.workloads) sum += std::log(timing.variant_ms);
  return std::exp(sum / static_cast<double>(judgement.workloads.size()));
}

std::string row(const search::Variant& variant, const std::set<std::string>& tunables) {
  const auto& judgement = variant.verdict();
  int registers = 0;
  std::size_t spilled = 0;
  for (const auto& kernel : judgement.resources) {
    registers = std::max(registers, kernel.registers);
    spilled += kernel.spill_store_bytes + kernel.spill_load_bytes;
  }
  const bool judged = variant.status == search::Variant::Status::judged || variant.status == search::Variant::Status::duplicate;
  std::vector<std::string> cells{csv_words(variant.id),
                                 std::to_string(variant.key.round),
                                 std::to_string(variant.key.sample),
                                 std::to_string(variant.key.attempt),
                                 csv_words(variant.model),
                                 csv_words(search::name(variant.status)),
                                 csv_words(judged ? verdict(judgement) : ""),
                                 csv_words(judged ? outcome::name(judgement.level) : ""),
                                 judgement.speedup ? csv_number(judgement.speedup->value) : "",
                                 judgement.speedup ? csv_number(judgement.speedup->low) : "",
                                 judgement.speedup ? csv_number(judgement.speedup->high) : "",
                                 csv_number(milliseconds_of(judgement)),
                                 csv_words(judgement.workloads.empty() ? "" : judgement.workloads.front().limited_by),
                                 csv_number(judgement.workloads.empty() ? 0 : judgement.workloads.front().share_of_limit),
                                 registers > 0 ? std::to_string(registers) : "",
                                 registers > 0 ? std::to_string(spilled) : "",
                                 csv_number(judgement.occupancy),
                                 csv_words(variant.techniques),
                                 csv_words(variant.exemplars),
                                 csv_words(variant.repairs),
                                 csv_words(variant.same_as),
                                 csv_number(judgement.seconds),
                                 csv_words(variant.reason.empty() ? judgement.message : variant.reason)};
  for (const auto& name : tunables) {
    const auto found = judgement.tunables.find(name);
    cells.push_back(found == judgement.tunables.end() ? "" : std::to_string(found->second));
  }
  return fmt::format("{}\n", fmt::join(cells, ","));
}

}  // namespace

std::string csv(const store::Run& run, const Style&) {
  std::set<std::string> tunables;
  for (const auto& variant : run.result.variants)
    for (const auto& [name, value] : variant.verdict().tunables) tunables.insert(name);
  std::string text = "id,round,sample,attempt,model,status,verdict,level,speedup,low,high,time_ms,limited_by,share_of_limit,registers,spilled_bytes,occupancy,techniques,"
                     "exemplars,repairs,same_as,judging_seconds,message";
  for (const auto& name : tunables) text += "," + csv_words("tunable " + name);
  text += "\n";
  for (const auto& variant : run.result.variants) text += row(variant, tunables);
  return text;
}

}  // namespace cudal1::report
