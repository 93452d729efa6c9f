// SPDX-License-Identifier: Apache-2.0
#include "sim/predict.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::sim {

namespace {

// The line with the largest share of a counter; 0: none.
int worst_line(const outcome::LineCounters& lines, double outcome::Counters::* counter) {
  int line = 0;
  double most = 0;
  for (const auto& [number, counters] : lines)
    if (counters.*counter > most) most = counters.*counter, line = number;
  return line;
}

// Machine instructions per SM and cycle, of the throughput table in the CUDA C++ Programming Guide: 64 integer lanes, 16 for
// special functions, 128 for pairs of halves, 32 for loads and stores, four schedulers.
constexpr double integer_rate = 2, special_rate = 0.5, half_rate = 4, memory_rate = 1, schedulers = 4;

using Counters = outcome::Counters;

struct Culprit {
  std::string_view bound;
  double Counters::* counter;
};
constexpr Culprit culprits[] = {
    {"instruction issue", &Counters::warp_instructions},      {"FP32 arithmetic", &Counters::fp32_flops},
    {"FP64 arithmetic", &Counters::fp64_flops},               {"FP16 arithmetic", &Counters::fp16_flops},
    {"tensor cores", &Counters::tensor_flops},                {"integer arithmetic", &Counters::integer_instructions},
    {"special functions", &Counters::special_instructions},   {"loads and stores", &Counters::global_load_requests},
    {"L1 and shared memory", &Counters::global_load_sectors}, {"shared memory", &Counters::shared_wavefronts},
    {"shared memory bank conflicts", &Counters::shared_wavefronts},
    {"L2 bandwidth", &Counters::global_load_sectors},         {"stores to the L2", &Counters::global_store_sectors},
    {"uncoalesced global loads", &Counters::global_load_sectors}, {"uncoalesced global stores", &Counters::global_store_sectors},
    {"DRAM bandwidth", &Counters::global_load_sectors},       {"local memory", &Counters::local_sectors},
    {"atomics on the same address", &Counters::atomic_serial_steps}, {"atomics", &Counters::atomic_requests},
    {"latency: too few warps in flight", &Counters::global_load_requests},
};

// What the user can act on, in place of a resource's name.
std::string cause(const std::string& bound, const LaunchProfile& profile) {
  const Counters& c = profile.counters;
  const bool memory = bound == "L1 and shared memory" || bound == "L2 bandwidth" || bound == "DRAM bandwidth" || bound == "stores to the L2";
  if (bound == "L1 and shared memory" && profile.traffic.shared_wavefronts > profile.traffic.load_lines)
    return c.shared_wavefronts > 1.3 * c.shared_requests ? "shared memory bank conflicts" : "shared memory";
  if (!memory) return bound;
  if (c.local_sectors > 0.5 * (c.local_sectors + c.global_load_sectors + c.global_store_sectors)) return "local memory";
  const double load_waste = c.global_load_sectors - c.global_load_bytes / 32, store_waste = c.global_store_sectors - c.global_store_bytes / 32;
  const double much = 0.33 * (c.global_load_sectors + c.global_store_sectors);
  if (bound != "stores to the L2" && load_waste > much && load_waste >= store_waste) return "uncoalesced global loads";
  if (bound != "L1 and shared memory" && store_waste > much) return "uncoalesced global stores";
  return bound;
}

// An SM with many blocks runs them in rounds of as many as it can hold.
void add_parallelism(const LaunchProfile& profile, const outcome::DeviceFacts& gpu, double running_seconds, PredictedLaunch& predicted) {
  const auto sms = static_cast<std::uint64_t>(gpu.sm_count), each = profile.blocks / sms, longer = profile.blocks % sms;
  const auto rounds = [&](std::uint64_t blocks) { return static_cast<double>((blocks + profile.blocks_per_sm - 1) / profile.blocks_per_sm); };
  const double all_rounds = static_cast<double>(longer) * rounds(each + 1) + static_cast<double>(sms - longer) * rounds(each);
  const double round_seconds = running_seconds / rounds(longer ? each + 1 : each);
  const double warps = static_cast<double>(profile.blocks) * std::ceil(profile.threads_per_block / 32.0);
  predicted.active_seconds = all_rounds * round_seconds;
  predicted.warps_active = std::min(1.0, warps / (all_rounds * gpu.max_threads_per_sm / 32));
  predicted.issue_active = std::min(1.0, profile.work.slots / (schedulers * gpu.clock_hz * predicted.active_seconds));
}

}  // namespace

std::vector<Bound> bounds(const LaunchProfile& profile, const outcome::DeviceFacts& gpu, const TimeConstants& k) {
  const Counters& c = profile.counters;
  const PipeWork& w = profile.work;
  const Traffic& t = profile.traffic;
  const double sms = gpu.sm_count, clock = gpu.clock_hz;
  const auto blocks = static_cast<double>(profile.blocks);
  // The SM with the most blocks is through last.
  const double most_blocks = std::ceil(blocks / sms);
  const auto on_sms = [&](double cycles) { return cycles * most_blocks / (blocks * clock); };
  const auto on_gpu = [&](double cycles) { return cycles / (sms * clock); };
  const double fp32_rate = gpu.fp32_flops / (2 * 32 * sms * clock);
  const double fp64_rate = std::max(1e-3, gpu.fp64_flops / (2 * 32 * sms * clock));
  // Of wgmma, and of mma.sync.
  const double tensor_work = w.products / k.warpgroup_share + std::max(0.0, c.tensor_flops - w.product_flops) / k.tensor_share;
  const double warps = std::ceil(profile.threads_per_block / 32.0);
  const double waves = std::ceil(blocks / (sms * static_cast<double>(profile.blocks_per_sm)));
  return {
      {"instruction issue", on_sms(w.slots / (schedulers * k.issue_share))},
      {"FP32 arithmetic", on_sms(w.fp32 / fp32_rate)},
      {"integer arithmetic", on_sms(w.integer / (integer_rate * k.integer_share))},
      {"special functions", on_sms(w.special / special_rate)},
      {"FP64 arithmetic", on_sms(w.fp64 / fp64_rate)},
      {"FP16 arithmetic", on_sms(w.half / half_rate)},
      {"tensor cores", on_sms(tensor_work * sms * clock / gpu.fp16_tensor_flops)},
      {"loads and stores", on_sms(w.memory / memory_rate)},
      // One unit serves both: a wavefront of shared memory, or a line of 128 bytes, at a time.
      {"L1 and shared memory", on_sms(t.shared_wavefronts + w.operands + k.line_cycles * std::max(t.load_lines, t.l1_sectors / 4))},
      {"L2 bandwidth", on_gpu(32 * t.l2_read_sectors / k.l2_read_bytes)},
      {"stores to the L2", on_gpu(k.store_line_cycles * t.store_lines + k.store_sector_cycles * t.l2_write_sectors)},
      {"DRAM bandwidth", (t.dram_read_bytes + t.dram_write_bytes + k.dram_run_bytes * t.dram_runs) / (k.dram_share * gpu.memory_bytes_per_second)},
      {"atomics on the same address", k.line_step_seconds * t.hottest_line_steps},
      {"atomics", k.step_seconds * t.atomic_steps},
      {"the start of blocks", k.block_seconds * blocks},
      {"one block that takes longer than the others", k.latency_scale * profile.longest_cycles / clock},
      {"latency: too few warps in flight", waves * (k.latency_scale * profile.warp_cycles + k.warp_start_cycles * warps) / clock},
  };
}

PredictedLaunch predict(const LaunchProfile& profile, const outcome::DeviceFacts& gpu, const TimeConstants& k) {
  const std::vector<Bound> all = bounds(profile, gpu, k);
  const Bound& largest = *std::max_element(all.begin(), all.end(), [](const Bound& a, const Bound& b) { return a.seconds < b.seconds; });
  // Latency stands last.
  double sum = 0;
  for (const Bound& bound : all)
    if (&bound != &all.back()) sum += std::pow(bound.seconds / largest.seconds, k.sharpness);
  const double throughput = std::pow(sum, k.latency_sharpness / k.sharpness), latency = std::pow(all.back().seconds / largest.seconds, k.latency_sharpness);
  PredictedLaunch predicted;
  const double running = largest.seconds * std::pow(throughput + latency, 1 / k.latency_sharpness);
  predicted.seconds = k.launch_seconds + running;
  add_parallelism(profile, gpu, running, predicted);
  if (largest.seconds < k.launch_seconds) {
    predicted.limited_by = "the launch itself";
    return predicted;
  }
  predicted.limited_by = cause(largest.name, profile);
  for (const Culprit& culprit : culprits)
    if (culprit.bound == predicted.limited_by)
      if (const int line = worst_line(profile.lines, culprit.counter); line > 0) predicted.limited_by += fmt::format(", line {}", line);
  return predicted;
}

double memset_seconds(double bytes, const outcome::DeviceFacts& gpu) {
  const TimeConstants& k = fitted_constants();
  return k.launch_seconds + bytes / (k.dram_share * gpu.memory_bytes_per_second);
}

}  // namespace cudal1::sim
