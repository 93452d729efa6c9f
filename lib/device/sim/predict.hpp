// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/counters.hpp"
#include "outcome/device_facts.hpp"
#include "outcome/resource_facts.hpp"
#include "sim/counting.hpp"
#include "sim/traffic.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::sim {

// What the model of time knows about one launch.
struct LaunchProfile {
  outcome::Counters counters;         // of the whole launch
  outcome::LineCounters lines;
  PipeWork work;
  Traffic traffic;
  double warp_cycles = 0;             // of a warp that has the GPU for itself
  double longest_cycles = 0;          // of the block that takes longest, if it has the GPU for itself; 0: none stands out
  std::uint64_t blocks = 1, blocks_per_sm = 1;  // in the grid, resident
  std::uint32_t threads_per_block = 1;
};

// The constants that no datasheet gives. Cycles are of one SM.
struct TimeConstants {
  double launch_seconds, block_seconds;             // of a launch; to start one block, on the whole GPU
  double dram_share;                                // of the datasheet's rate that a kernel reaches
  double l2_read_bytes;                             // per SM and cycle
  double store_line_cycles, store_sector_cycles;    // L2 time of a store, by lines and sectors touched
  double line_cycles;                               // L1 time of a line touched by a load
  double issue_share;                               // of the issue slots that a kernel reaches
  double integer_share, tensor_share;               // of the rates for integers and tensor cores
  double warpgroup_share;                           // of the tensor cores' rate, by wgmma
  double latency_scale, warp_start_cycles;          // of a warp's own time; to begin one warp of a block
  double dram_run_bytes;                            // DRAM time of beginning a stretch elsewhere, as bytes
  double line_step_seconds, step_seconds;           // steps of atomics on one line, and all steps
  // Exponents of the norms that join the bounds of throughput, and those with latency: the smaller, the worse they overlap.
  double sharpness, latency_sharpness;
};

// Every constant with its name, for the program that fits them.
struct TimeConstantField {
  std::string_view name;
  double TimeConstants::* member;
};
const std::vector<TimeConstantField>& time_constant_fields();
const TimeConstants& fitted_constants();

// One resource's own least time.
struct Bound {
  std::string name;                                 // "DRAM bandwidth"
  double seconds = 0;
};
std::vector<Bound> bounds(const LaunchProfile& profile, const outcome::DeviceFacts& gpu, const TimeConstants& constants);

struct PredictedLaunch {
  double seconds = 0;
  std::string limited_by;             // "DRAM bandwidth", "uncoalesced global loads, line 12"
  // Parallelism achieved, of what an SM can hold or issue, while it has blocks; these are taken to be equally long.
  double warps_active = 0, issue_active = 0;
  double active_seconds = 0;          // summed over the SMs
};

// The bounds joined: close to the largest, above it where several are alike. A launch costs a little by itself.
PredictedLaunch predict(const LaunchProfile& profile, const outcome::DeviceFacts& gpu, const TimeConstants& constants = fitted_constants());
double memset_seconds(double bytes, const outcome::DeviceFacts& gpu);

// Half-width of a prediction's interval on log(time). For two kernels of one family that the constants were not fitted on, nine of
// ten predicted ratios lie within the two intervals together (root of the sum of squares) of the measured ratio. So it is on the H200,
// and on an H100, to which nothing was fitted.
inline constexpr double compared_log_error = 0.28;
// The same where no time was ever measured: what nine of ten need on the H200 before anything is fitted to it.
inline constexpr double uncompared_log_error = 0.47;

}  // namespace cudal1::sim
