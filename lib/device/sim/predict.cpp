// SPDX-License-Identifier: Apache-2.0
#include "sim/predict.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace cudal1::sim {

namespace {

struct Bound {
  double seconds;
  std::string name;
  double outcome::Counters::* culprit;  // whose largest line is named
};

// The line with the largest share of a counter; 0: none.
int worst_line(const outcome::LineCounters& lines, double outcome::Counters::* counter) {
  int line = 0;
  double most = 0;
  for (const auto& [number, counters] : lines)
    if (counters.*counter > most) most = counters.*counter, line = number;
  return line;
}

constexpr double launch_seconds = 2.5e-6;
constexpr double l2_latency_cycles = 260, dram_latency_cycles = 600;

}  // namespace

PredictedLaunch predict(const LaunchProfile& profile, const outcome::DeviceFacts& gpu) {
  const outcome::Counters& c = profile.counters;
  const double sms = gpu.sm_count, clock = gpu.clock_hz;
  // Blocks spread over the SMs in waves; the last wave may leave some idle.
  const int registers = profile.resources.registers > 0 ? profile.resources.registers : 32;
  const outcome::Occupancy occupancy = outcome::occupancy(gpu, registers, profile.shared_bytes, static_cast<int>(profile.threads_per_block));
  const double per_sm = std::max(1, occupancy.blocks_per_sm);
  const auto blocks = static_cast<double>(profile.blocks);
  const double busy_sms = std::min(sms, blocks);
  const double full_waves = std::ceil(blocks / sms) / std::max(1.0, blocks / sms);  // ≥ 1: imbalance between SMs
  const double imbalance = blocks <= sms ? 1.0 : full_waves;
  const double sm_rate = busy_sms * clock / imbalance;

  const double sectors = c.global_load_sectors + c.global_store_sectors + c.local_sectors;
  std::vector<Bound> bounds{
      // Four schedulers per SM, one warp instruction each and cycle.
      {c.warp_instructions / (4 * sm_rate), "instruction issue", &outcome::Counters::warp_instructions},
      {c.fp32_flops / (gpu.fp32_flops * busy_sms / sms / imbalance), "FP32 arithmetic", &outcome::Counters::fp32_flops},
      {c.fp64_flops / (gpu.fp64_flops * busy_sms / sms / imbalance), "FP64 arithmetic", &outcome::Counters::fp64_flops},
      {c.fp16_flops / (2 * gpu.fp32_flops * busy_sms / sms / imbalance), "FP16 arithmetic", &outcome::Counters::fp16_flops},
      {c.tensor_flops / (gpu.fp16_tensor_flops * busy_sms / sms / imbalance), "tensor cores", &outcome::Counters::tensor_flops},
      // 64 integer lanes and 16 special-function lanes per SM and cycle (CUDA C++ Programming Guide, throughput table).
      {c.integer_instructions * 32 / (64 * sm_rate), "integer arithmetic", &outcome::Counters::integer_instructions},
      {c.special_instructions * 32 / (16 * sm_rate), "special functions", &outcome::Counters::special_instructions},
      // The L1 moves 128 bytes a cycle, shared memory too.
      {sectors / (4 * sm_rate), "L1 transactions", &outcome::Counters::global_load_sectors},
      {c.shared_wavefronts / sm_rate, "shared memory", &outcome::Counters::shared_wavefronts},
      // The L2 serves about 64 bytes per SM and cycle.
      {c.l2_bytes / (48 * sms * clock), "L2 bandwidth", &outcome::Counters::global_load_sectors},
      // Sectors that a request fills only in part: a transposition of 4096 × 4096 floats that stores two lanes per sector
      // takes 0.13 ms on an H200, which is 6 bytes of such sectors per SM and cycle.
      {std::max(0.0, c.global_store_sectors - c.global_store_bytes / 32) * 32 / (6 * sms * clock), "partial stores",
       &outcome::Counters::global_store_sectors},
      {(c.dram_read_bytes + c.dram_write_bytes) / (0.9 * gpu.memory_bytes_per_second), "DRAM bandwidth", &outcome::Counters::global_load_sectors},
      {c.atomic_serial_steps / (sms * clock / 2), "atomics on the same address", &outcome::Counters::atomic_serial_steps},
  };
  // Latency: what a warp waits for, divided among the warps that wait at the same time.
  const double warps = std::max(1.0, blocks * std::ceil(profile.threads_per_block / 32.0));
  const double resident = std::min(warps, busy_sms * per_sm * std::ceil(profile.threads_per_block / 32.0));
  const double accesses = c.global_load_requests / warps;
  const double hit = c.global_load_bytes > 0 ? std::clamp(1 - c.dram_read_bytes / std::max(1.0, c.l2_bytes), 0.0, 1.0) : 1.0;
  const double latency = accesses * (hit * l2_latency_cycles + (1 - hit) * dram_latency_cycles) / 4 + (c.warp_instructions / warps) * 4 + c.barriers / warps * 30;
  bounds.push_back({warps / resident * latency / clock, "latency: too few warps in flight", &outcome::Counters::global_load_requests});

  const auto largest = std::max_element(bounds.begin(), bounds.end(), [](const Bound& a, const Bound& b) { return a.seconds < b.seconds; });
  // The two largest overlap imperfectly.
  double sum = 0;
  for (const Bound& bound : bounds) sum += std::pow(bound.seconds, 4);
  PredictedLaunch predicted;
  predicted.seconds = launch_seconds + std::pow(sum, 0.25);
  predicted.limited_by = largest->name;
  const double ideal_sectors = (c.global_load_bytes + c.global_store_bytes) / 32;
  const bool wasteful = sectors > 1.5 * ideal_sectors && ideal_sectors > 0;
  if (wasteful && (largest->name == "L1 transactions" || largest->name == "DRAM bandwidth" || largest->name == "L2 bandwidth" ||
                   largest->name == "partial stores"))
    predicted.limited_by = largest->name != "partial stores" && c.global_load_sectors >= c.global_store_sectors ? "uncoalesced global loads" : "uncoalesced global stores";
  if (largest->name == "shared memory" && c.shared_wavefronts > 1.3 * c.shared_requests) predicted.limited_by = "shared memory bank conflicts";
  auto culprit = largest->culprit;
  if (predicted.limited_by == "uncoalesced global stores") culprit = &outcome::Counters::global_store_sectors;
  if (const int line = worst_line(profile.lines, culprit); line > 0 && largest->seconds > launch_seconds) predicted.limited_by += fmt::format(", line {}", line);
  if (largest->seconds < launch_seconds) predicted.limited_by = "the launch itself";
  return predicted;
}

}  // namespace cudal1::sim
