// SPDX-License-Identifier: Apache-2.0
#include "bench/limit.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace cudal1::bench {

namespace {

constexpr double busy = 0.5;               // a unit that works so much of the time is the limit
constexpr double scattered_sectors = 16;   // a request; 4 are ideal for 4-byte elements, 16 for 16-byte ones
constexpr double few_warps = 0.4;
constexpr double slack = 0.9;  // of the measured rate, for rates that a copy does not quite reach

}  // namespace

Limit limit(double necessary_bytes, double written_operations, const outcome::DeviceFacts& device) {
  Limit result;
  if (device.memory_bytes_per_second > 0) result.memory_ms = 1e3 * necessary_bytes / device.memory_bytes_per_second;
  if (device.fp32_flops > 0) result.arithmetic_ms = 1e3 * written_operations / device.fp32_flops;
  return result;
}

bool extraordinary(double share) { return slack * share > 1; }

std::string binding_limit(const std::string& otherwise, const std::map<std::string, double>& hardware,
                          const outcome::Counters& counters) {
  if (hardware.empty() || otherwise == launch_overhead) return otherwise;
  const auto share = [&](const char* name) {
    const auto found = hardware.find(name);
    return found == hardware.end() ? 0.0 : found->second;
  };
  const std::pair<double, const char*> limits[] = {{share("dram_share"), "memory bandwidth"},
                                                   {share("fma_pipe_share"), "FP32 arithmetic"},
                                                   {share("issue_active_share"), "instruction issue"}};
  const auto& [most, name] = *std::max_element(std::begin(limits), std::end(limits));
  if (most >= busy) return name;
  if (counters.sectors_per_request() > scattered_sectors)
    return fmt::format("scattered global accesses, {:.0f} sectors a request", counters.sectors_per_request());
  if (share("warps_active_share") < few_warps)
    return fmt::format("latency, with {:.0f} % of the warps resident", 100 * share("warps_active_share"));
  return "latency";
}

bool implausible(double ms, double output_bytes, const outcome::DeviceFacts& device) {
  if (device.memory_bytes_per_second <= 0) return false;
  const double bytes = std::max(0.0, output_bytes - static_cast<double>(device.l2_bytes));
  return ms < slack * 1e3 * bytes / device.memory_bytes_per_second;
}

}  // namespace cudal1::bench
