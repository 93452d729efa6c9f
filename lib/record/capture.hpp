// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "record/recording.hpp"
#include "record/session.hpp"
#include "sim/hosted.hpp"

#include <cstddef>
#include <set>
#include <vector>

namespace cudal1::record {

// Decides which launches of a simulated program are kept, and keeps them: called before and after each.
class Capture {
 public:
  Capture(const Choice& choice, std::size_t most_bytes, sim::HostedDevice& device, Recording& recording);

  void add_module(std::size_t module) { modules_.push_back(module); }
  // Also says in which memory races are looked for.
  void before(sim::HostedDevice::Request& request);
  void after(const sim::HostedDevice::Request& request, const device::RunResult& result);
  void host_wrote(std::uint64_t address);   // between launches
  bool complete() const { return complete_; }

 private:
  bool wanted(const Launch& launch) const;
  Launch describe(const sim::HostedDevice::Request& request);
  void begin(Kept& kept, const sim::HostedDevice::Request& request);
  double predict(const sim::HostedDevice::Request& request, const std::set<std::uint64_t>& reached);

  const Choice& choice_;
  std::size_t most_bytes_;
  sim::HostedDevice& device_;
  Recording& recording_;
  std::vector<std::size_t> modules_;
  Launch launch_;                           // under way
  std::set<std::uint64_t> reached_;         // by it: allocations and variables
  Kept* into_ = nullptr;                    // null: it is not kept
  std::set<std::string> seen_;              // of the chosen kernels
  bool open_ = false, complete_ = false;    // of what was chosen
};

}  // namespace cudal1::record
