// SPDX-License-Identifier: Apache-2.0
#include "bench/race.hpp"

#include "bench/order.hpp"

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

void Race::add(const std::vector<device::Sample>& samples, double tick_ms) {
  assert(samples.size() == survivors_.size());
  guard_ = std::max(guard_, timer_guard(tick_ms, shortest_ms(samples)));
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
  // Pairs tell more than the times alone; those that lead by them agree but for a few near ties.
  for (std::size_t step = 0; rounds_ > 0 && step < survivors_.size(); ++step) {
    const auto lead = [&](std::size_t member) { return member == best ? 0 : over(member, best).mean; };
    const auto next = *std::max_element(survivors_.begin(), survivors_.end(),
                                        [&](std::size_t a, std::size_t b) { return lead(a) < lead(b); });
    if (lead(next) <= 0) break;
    best = next;
  }
  return best;
}

Estimate Race::over(std::size_t member, std::size_t other) const {
  const auto& own = log_times_[member];
  const auto& others = log_times_[other];
  std::vector<double> ratios(std::min(own.size(), others.size()));  // who left took part in every round before
  for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] = others[i] - own[i];
  return estimate(ratios, alpha, guard_);
}

void Race::eliminate() {
  const std::size_t leader = best();
  std::erase_if(survivors_, [&](std::size_t member) { return member != leader && over(leader, member).low() > 0; });
}

}  // namespace cudal1::bench
