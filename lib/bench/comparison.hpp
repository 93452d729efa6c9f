// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/decision.hpp"
#include "device/device.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace cudal1::bench {

// A variant against the reference over all workloads, look by look. Only here do samples become a verdict, so that
// recorded samples are judged exactly as fresh ones are.
class Comparison {
 public:
  // `budget_ms` of device time, after which an open question stays open; a final verdict has one look of its own, after
  // `final_pairs`.
  Comparison(Purpose purpose, std::vector<double> weights, double budget_ms, int final_pairs = 24);

  // Pairs that a workload still needs before the next look.
  int wanted(std::size_t workload) const;
  // Samples of the arms 0 and 1, pair by pair. Pairs taken while the GPU's clock was slowed down are set aside.
  void add(std::size_t workload, const std::vector<device::Sample>& samples, double tick_ms);
  // Looks, when every workload has what it wants. Empty: more pairs are needed.
  std::optional<outcome::Verdict> look();

  const Estimate& estimate() const { return estimate_; }                          // over all workloads
  const Estimate& part(std::size_t workload) const { return parts_[workload]; }
  double median_ms(std::size_t workload, std::size_t arm) const;
  int set_aside() const;          // samples taken at a clock well below the usual one
  double longest_stall_ms() const;

 private:
  struct Series {
    std::vector<device::Sample> samples;
    double tick_ms = 0;
  };
  std::vector<device::Sample> sound(const Series& series) const;

  Purpose purpose_;
  std::vector<double> weights_;
  double budget_ms_;
  std::vector<int> looks_;
  double alpha_;
  std::size_t next_ = 0;          // of looks_
  double spent_ms_ = 0;
  std::vector<Series> series_;
  std::vector<Estimate> parts_;
  Estimate estimate_;
};

}  // namespace cudal1::bench
