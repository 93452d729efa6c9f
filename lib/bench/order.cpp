// SPDX-License-Identifier: Apache-2.0
#include "bench/order.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace cudal1::bench {

std::vector<std::size_t> pair_order(int pairs, base::Random& random) {
  std::vector<std::size_t> order;
  bool swapped = false;
  for (int pair = 0; pair < pairs; ++pair) {
    swapped = pair % 2 == 0 ? random.below(2) == 1 : !swapped;
    order.push_back(swapped ? 1 : 0);
    order.push_back(swapped ? 0 : 1);
  }
  return order;
}

std::vector<double> log_ratios(const std::vector<device::Sample>& samples) {
  assert(samples.size() % 2 == 0);
  std::vector<double> ratios;
  for (std::size_t i = 0; i + 1 < samples.size(); i += 2) {
    const auto& first = samples[i];
    const auto& second = samples[i + 1];
    assert(first.arm + second.arm == 1);
    const double ratio = std::log(first.ms) - std::log(second.ms);
    ratios.push_back(first.arm == 0 ? ratio : -ratio);
  }
  return ratios;
}

double median_ms(const std::vector<device::Sample>& samples, std::size_t arm) {
  std::vector<double> times;
  for (const auto& sample : samples)
    if (sample.arm == arm) times.push_back(sample.ms);
  if (times.empty()) return 0;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  if (times.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(times.begin(), middle));
}

double shortest_ms(const std::vector<device::Sample>& samples) {
  double shortest = 0;
  for (const auto& sample : samples) {
    const double span = sample.span_ms > 0 ? sample.span_ms : sample.ms;
    if (shortest == 0 || span < shortest) shortest = span;
  }
  return shortest;
}

}  // namespace cudal1::bench
