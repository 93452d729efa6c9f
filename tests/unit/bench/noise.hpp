// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/random.hpp"
#include "device/device.hpp"

#include <cmath>
#include <vector>

// Times as a GPU gives them: a slow common drift, scatter of each sample, rare spikes, a clock that ticks.
class NoisyClock {
 public:
  explicit NoisyClock(std::uint64_t seed, double tick_ms = 0) : random_(seed), tick_ms_(tick_ms) {}

  cudal1::device::Sample sample(std::size_t arm, double true_ms) {
    constexpr double correlation = 0.9753;  // exp(-1/40)
    drift_ = correlation * drift_ + 0.015 * std::sqrt(1 - correlation * correlation) * normal();
    double log_ms = std::log(true_ms) + drift_ + 0.006 * normal();
    if (random_.uniform() < 0.03) log_ms += std::log(1.05 + 0.45 * random_.uniform());
    double ms = std::exp(log_ms);
    if (tick_ms_ > 0) ms = tick_ms_ * std::round(ms / tick_ms_ + random_.uniform() - 0.5);
    return {arm, 0, ms, ms};
  }

  std::vector<cudal1::device::Sample> samples(const std::vector<std::size_t>& order, const std::vector<double>& true_ms) {
    std::vector<cudal1::device::Sample> result;
    for (const std::size_t arm : order) result.push_back(sample(arm, true_ms[arm]));
    return result;
  }

  cudal1::base::Random& random() { return random_; }

 private:
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += random_.uniform();
    return sum;
  }

  cudal1::base::Random random_;
  double tick_ms_;
  double drift_ = 0;
};
