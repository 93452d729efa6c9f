// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/counters.hpp"
#include "outcome/device_facts.hpp"

#include <map>
#include <string>

namespace cudal1::bench {

// The least time in which the task's own bytes can move, and its arithmetic as written can run. Bytes come from the
// task, never from a variant. The arithmetic is no bound: algebra may honestly remove it.
inline constexpr const char* launch_overhead = "launch overhead";   // one of the limits that times are given

struct Limit {
  double memory_ms = 0;      // 0: the device's memory rate is not known
  double arithmetic_ms = 0;
  bool memory_bound() const { return memory_ms >= arithmetic_ms; }
};
Limit limit(double necessary_bytes, double written_operations, const outcome::DeviceFacts& device);

// True for a share of a peak that calls for a second look: more than all of it.
bool extraordinary(double share);

// The one limit that binds, seen from the hardware's counters: `otherwise` where they do not say more.
std::string binding_limit(const std::string& otherwise, const std::map<std::string, double>& hardware,
                          const outcome::Counters& counters);

// True when a time is shorter than writing the outputs takes: inputs may honestly be left unread. What fits into the L2
// cache is left out, because it may still be there, dirty, when the clock stops.
bool implausible(double ms, double output_bytes, const outcome::DeviceFacts& device);

}  // namespace cudal1::bench
