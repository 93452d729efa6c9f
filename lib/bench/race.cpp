// SPDX-License-Identifier: Apache-2.0
#include "bench/race.hpp"

#include "bench/estimate.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace cudal1::bench {

namespace {

constexpr double alpha = 0.01;

}  // namespace

Race::Race(std::size_t members) : log_times_(members), survivors_(members) {
  assert(members > 0);
  std::iota(survivors_.begin(), survivors_.end(), std::size_t{0});
}

std::vector<std::size_t> Race::round(base::Random& random) const {
  std::vector<std::size_t> order = survivors_;
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

void Race::add(const std::vector<device::Sample>& samples) {
  assert(samples.size() == survivors_.size());
  for (const device::Sample& sample : samples) log_times_[sample.arm].push_back(std::log(sample.ms));
  ++rounds_;
  if (std::find(looks.begin(), looks.end(), rounds_) != looks.end()) eliminate();
}

std::size_t Race::best() const {
  std::size_t best = survivors_.front();
  double best_mean = HUGE_VAL;
  for (const std::size_t member : survivors_) {
    if (log_times_[member].empty()) continue;
    const double mean = estimate(log_times_[member], alpha, 0).mean;
    if (mean < best_mean) {
      best_mean = mean;
      best = member;
    }
  }
  return best;
}

void Race::eliminate() {
  const std::size_t leader = best();
  std::erase_if(survivors_, [&](std::size_t member) {
    if (member == leader) return false;
    std::vector<double> behind(log_times_[member].size());  // every survivor took part in every round
    for (std::size_t i = 0; i < behind.size(); ++i) behind[i] = log_times_[member][i] - log_times_[leader][i];
    return estimate(behind, alpha, 0).low() > 0;
  });
}

}  // namespace cudal1::bench
