// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/counters.hpp"
#include "outcome/device_facts.hpp"
#include "outcome/resource_facts.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace cudal1::sim {

// What the model of time knows about one launch.
struct LaunchProfile {
  outcome::Counters counters;         // of the whole launch
  outcome::LineCounters lines;
  outcome::ResourceFacts resources;   // registers 0: unknown
  std::uint64_t blocks = 1;
  std::uint32_t threads_per_block = 1;
  std::size_t shared_bytes = 0;       // static and dynamic, per block
};

struct PredictedLaunch {
  double seconds = 0;
  std::string limited_by;             // "DRAM bandwidth", "uncoalesced global loads, line 12"
};

// The largest of the per-resource bounds, plus latency where too few warps hide it, plus the cost of a launch.
PredictedLaunch predict(const LaunchProfile& profile, const outcome::DeviceFacts& gpu);

// Half-width of the model's error on log(time). Not fitted: the ±30 % that published analytic models reach at best.
inline constexpr double model_log_error = 0.30;

}  // namespace cudal1::sim
