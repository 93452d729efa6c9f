// SPDX-License-Identifier: Apache-2.0
#include "prompt/prompt.hpp"

#include "base/text.hpp"
#include "prompt/words.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::prompt {

namespace {

constexpr std::size_t most_diagnostics = 6, most_findings = 3, most_hot_lines = 4;

std::string spaced(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string times(const outcome::Judgement& judgement) {
  std::string text;
  const char* measured = judgement.predicted ? "predicted" : "measured";
  for (const auto& workload : judgement.workloads) {
    std::vector<std::string> sizes;
    for (const auto& [name, value] : workload.sizes) sizes.push_back(fmt::format("{}={}", name, value));
    if (sizes.empty()) sizes.emplace_back("the fixed sizes");   // of a module
    text += fmt::format("- {}: {} ({}) against {} of the reference, {:.2f}×", fmt::join(sizes, " "),
                        milliseconds(workload.variant_ms), measured, milliseconds(workload.reference_ms),
                        workload.speedup.value);
    if (workload.share_of_limit > 0) text += fmt::format("; {:.0f} % of the speed of light", 100 * workload.share_of_limit);
    if (!workload.limited_by.empty()) text += fmt::format("; limited by {}", workload.limited_by);
    text += '\n';
  }
  return text;
}

std::string resources(const outcome::Judgement& judgement) {
  std::string text;
  for (const auto& kernel : judgement.resources) {
    text += fmt::format("- `{}`: {} registers per thread, {} of static shared memory per block", kernel.kernel,
                        kernel.registers, bytes(static_cast<double>(kernel.shared_bytes)));
    if (kernel.spill_store_bytes + kernel.spill_load_bytes > 0)
      text += fmt::format(", spills {} stored and {} loaded", bytes(static_cast<double>(kernel.spill_store_bytes)),
                          bytes(static_cast<double>(kernel.spill_load_bytes)));
    if (!kernel.serialized_wgmma.empty())
      text += fmt::format("; ptxas lets its wgmma run only one after another: {}. Touch accumulators only after `wgmma.wait_group`, and call no function that is not inlined between `wgmma.fence` and the wait", kernel.serialized_wgmma);
    text += '\n';
  }
  if (judgement.occupancy > 0) {
    text += fmt::format("- Occupancy {:.0f} %", 100 * judgement.occupancy);
    if (!judgement.occupancy_limited_by.empty()) text += ", limited by " + judgement.occupancy_limited_by;
    text += '\n';
  }
  return text;
}

std::string tunables(const outcome::Judgement& judgement) {
  if (judgement.tunables.empty()) return {};
  std::vector<std::string> values;
  for (const auto& [name, value] : judgement.tunables) values.push_back(fmt::format("{}={}", name, value));
  return fmt::format("- Best of its family: {}\n", fmt::join(values, " "));
}

std::string hot_lines(const outcome::Judgement& judgement, const std::string& source) {
  std::vector<std::pair<int, outcome::Counters>> lines(judgement.hot_lines.begin(), judgement.hot_lines.end());
  std::sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) {
    return std::pair(-a.second.warp_instructions, a.first) < std::pair(-b.second.warp_instructions, b.first);
  });
  const double all = judgement.counters.warp_instructions;
  if (all <= 0) return {};
  std::string text;
  for (std::size_t index = 0; index < std::min(lines.size(), most_hot_lines); ++index) {
    const auto& [line, counters] = lines[index];
    text += fmt::format("- Line {}, {:.0f} % of the instructions: `{}`\n", line, 100 * counters.warp_instructions / all,
                        base::trim(base::line_of(source, line)));
  }
  return text;
}

std::string wrong(std::string_view which, const std::optional<outcome::WrongElement>& element) {
  if (!element) return {};
  return fmt::format("- The {} wrong element: {}[{}] is {}, expected {}\n", which, element->output,
                     fmt::join(element->index, ", "), number(element->got), number(element->expected));
}

std::string finding(const outcome::Finding& found, const std::string& source) {
  std::string text = "- " + found.message;
  if (!found.kernel.empty()) text += fmt::format(" (kernel `{}`)", found.kernel);
  text += fmt::format(", block ({}), thread ({})", fmt::join(found.block, ", "), fmt::join(found.thread, ", "));
  if (found.line > 0)
    text += fmt::format(", line {}: `{}`", found.line, base::trim(base::line_of(source, found.line)));
  return text + '\n';
}

}  // namespace

std::string describe_counters(const outcome::Judgement& judgement) {
  const auto& counters = judgement.counters;
  std::string text;
  if (counters.dram_read_bytes + counters.dram_write_bytes > 0)
    text += fmt::format("- DRAM: {} read, {} written\n", bytes(counters.dram_read_bytes), bytes(counters.dram_write_bytes));
  if (counters.global_load_requests + counters.global_store_requests > 0)
    text += fmt::format("- Global accesses: {:.1f} sectors of 32 bytes per warp request (4 is ideal for 4-byte elements)\n",
                        counters.sectors_per_request());
  if (counters.shared_requests > 0)
    text += fmt::format("- Shared memory: {:.2f} wavefronts per request (1 is free of bank conflicts)\n",
                        counters.shared_wavefronts / counters.shared_requests);
  if (counters.warp_instructions > 0)
    text += fmt::format("- Instructions: {:.3g} warp instructions, {:.0f} % of lanes active\n", counters.warp_instructions,
                        100 * counters.lane_instructions / (32 * counters.warp_instructions));
  if (!judgement.hardware.empty()) {
    std::vector<std::string> shares;
    for (const auto& [name, value] : judgement.hardware)
      if (name.ends_with("_share"))
        shares.push_back(fmt::format("{} {:.0f} %", spaced(name.substr(0, name.size() - 6)), 100 * value));
    text += fmt::format("- {}, of the peak: {}\n", judgement.predicted ? "Predicted" : "Counted in hardware", fmt::join(shares, ", "));
  }
  if (counters.local_sectors > 0) text += fmt::format("- Local memory: {:.3g} sectors\n", counters.local_sectors);
  if (counters.atomic_requests > 0)
    text += fmt::format("- Atomics: {:.3g} requests, {:.3g} serial steps\n", counters.atomic_requests,
                        counters.atomic_serial_steps);
  return text;
}

std::string describe_facts(const outcome::Judgement& judgement) {
  std::string text;
  if (judgement.speedup)
    text += fmt::format("- Score {:.2f}×, interval {:.2f} to {:.2f}{}\n", judgement.speedup->value, judgement.speedup->low,
                        judgement.speedup->high, judgement.predicted ? ", predicted" : "");
  return text + times(judgement) + tunables(judgement) + resources(judgement);
}

std::string describe_success(const outcome::Judgement& judgement, const std::string& source) {
  return describe_facts(judgement) + describe_counters(judgement) + hot_lines(judgement, source);
}

std::string describe_failure(const outcome::Judgement& judgement, const std::string& source) {
  std::string text = fmt::format("- {}: {}\n", outcome::name(judgement.verdict, judgement.predicted),
                                 judgement.message.empty() ? "no further message" : judgement.message);
  text += wrong("first", judgement.first_wrong);
  text += wrong("worst", judgement.worst_wrong);
  if (judgement.first_wrong)
    text += fmt::format("- Relative error of the whole output: {}; the reference's own: {}\n",
                        number(judgement.errors.relative_l2), number(judgement.errors.reference_relative_l2));
  for (std::size_t index = 0; index < std::min(judgement.findings.size(), most_findings); ++index)
    text += finding(judgement.findings[index], source);
  base::Diagnostics shown(judgement.diagnostics.begin(),
                          judgement.diagnostics.begin() + static_cast<std::ptrdiff_t>(
                                                              std::min(judgement.diagnostics.size(), most_diagnostics)));
  if (!shown.empty()) text += '\n' + fenced(base::render(shown), "") + '\n';
  return text;
}

}  // namespace cudal1::prompt
