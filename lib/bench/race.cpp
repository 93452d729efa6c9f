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
constexpr double worth_keeping = 0.005;

}  // namespace

Race::Race(std::size_t members) : gains_(members), survivors_(members) {
  assert(members > 0);
  std::iota(survivors_.begin(), survivors_.end(), std::size_t{0});
}

std::vector<std::size_t> Race::round(base::Random& random) const {
  std::vector<std::size_t> order{0};
  for (const std::size_t member : survivors_) order.push_back(member + 1);
  for (std::size_t i = order.size() - 1; i > 1; --i) std::swap(order[i], order[1 + random.below(i)]);
  order.push_back(0);
  return order;
}

void Race::add(const std::vector<device::Sample>& samples) {
  assert(samples.size() == survivors_.size() + 2);
  const double reference = 0.5 * (std::log(samples.front().ms) + std::log(samples.back().ms));
  for (std::size_t i = 1; i + 1 < samples.size(); ++i)
    gains_[samples[i].arm - 1].push_back(reference - std::log(samples[i].ms));
  ++rounds_;
  if (std::find(looks.begin(), looks.end(), rounds_) != looks.end()) eliminate();
}

std::size_t Race::best() const {
  std::size_t best = survivors_.front();
  double best_mean = -HUGE_VAL;
  for (const std::size_t member : survivors_) {
    if (gains_[member].empty()) continue;
    const double mean = estimate(gains_[member], alpha, 0).mean;
    if (mean > best_mean) {
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
    std::vector<double> behind(gains_[member].size());  // every survivor took part in every round
    for (std::size_t i = 0; i < behind.size(); ++i) behind[i] = gains_[leader][i] - gains_[member][i];
    if (estimate(behind, alpha, 0).low() > 0) return true;
    return estimate(gains_[member], alpha, 0).high() < worth_keeping;
  });
}

}  // namespace cudal1::bench
