// SPDX-License-Identifier: Apache-2.0
#include "bench/limit.hpp"

#include <algorithm>

namespace cudal1::bench {

namespace {

constexpr double slack = 0.9;  // of the measured rate, for rates that a copy does not quite reach

}  // namespace

Limit limit(double necessary_bytes, double written_operations, const outcome::DeviceFacts& device) {
  Limit result;
  if (device.memory_bytes_per_second > 0) result.memory_ms = 1e3 * necessary_bytes / device.memory_bytes_per_second;
  if (device.fp32_flops > 0) result.arithmetic_ms = 1e3 * written_operations / device.fp32_flops;
  return result;
}

bool implausible(double ms, double output_bytes, const outcome::DeviceFacts& device) {
  if (device.memory_bytes_per_second <= 0) return false;
  const double bytes = std::max(0.0, output_bytes - static_cast<double>(device.l2_bytes));
  return ms < slack * 1e3 * bytes / device.memory_bytes_per_second;
}

}  // namespace cudal1::bench
