// SPDX-License-Identifier: Apache-2.0
#include "bench/estimate.hpp"

#include "bench/student.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace cudal1::bench {

namespace {

constexpr double trim = 0.2;  // of each end

}  // namespace

outcome::Speedup Estimate::speedup() const { return {std::exp(mean), std::exp(low()), std::exp(high())}; }

Estimate estimate(std::span<const double> log_ratios, double alpha, double guard) {
  assert(!log_ratios.empty());
  std::vector<double> sorted(log_ratios.begin(), log_ratios.end());
  std::sort(sorted.begin(), sorted.end());
  const int n = static_cast<int>(sorted.size());
  const int g = static_cast<int>(trim * n);
  const int kept = n - 2 * g;

  Estimate result;
  result.pairs = n;
  result.guard = guard;
  for (int i = g; i < n - g; ++i) result.mean += sorted[i];
  result.mean /= kept;

  const int degrees = kept - 1;
  if (degrees < 1) {
    result.half_width = std::numeric_limits<double>::infinity();
    return result;
  }
  // Winsorised: every trimmed value takes that of its nearest kept neighbour.
  double winsorised_mean = 0;
  for (int i = 0; i < n; ++i) winsorised_mean += sorted[std::clamp(i, g, n - g - 1)];
  winsorised_mean /= n;
  double squares = 0;
  for (int i = 0; i < n; ++i) {
    const double difference = sorted[std::clamp(i, g, n - g - 1)] - winsorised_mean;
    squares += difference * difference;
  }
  const double deviation = std::sqrt(squares / (n - 1));
  result.standard_error = deviation / ((1 - 2.0 * g / n) * std::sqrt(n));
  result.half_width = student_quantile(1 - alpha / 2, degrees) * result.standard_error + guard;
  return result;
}

double timer_guard(double tick, double shortest) { return shortest > 0 ? tick / (2 * shortest) : 0; }

Estimate chain(const Estimate& second, const Estimate& third) {
  Estimate result;
  result.mean = second.mean + third.mean;
  result.standard_error = std::hypot(second.standard_error, third.standard_error);
  result.guard = second.guard + third.guard;
  result.half_width = std::hypot(second.half_width - second.guard, third.half_width - third.guard) + result.guard;
  result.pairs = third.pairs;
  return result;
}

Estimate combine(std::span<const Estimate> parts, std::span<const double> weights) {
  assert(parts.size() == weights.size() && !parts.empty());
  double total = 0;
  for (const double weight : weights) total += weight;
  Estimate result;
  result.pairs = std::numeric_limits<int>::max();
  double error_squares = 0;
  double width_squares = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double weight = weights[i] / total;
    const double statistical = parts[i].half_width - parts[i].guard;
    result.mean += weight * parts[i].mean;
    error_squares += weight * weight * parts[i].standard_error * parts[i].standard_error;
    width_squares += weight * weight * statistical * statistical;
    result.guard += weight * parts[i].guard;  // biases may all point one way
    result.pairs = std::min(result.pairs, parts[i].pairs);
  }
  result.standard_error = std::sqrt(error_squares);
  result.half_width = std::sqrt(width_squares) + result.guard;
  return result;
}

}  // namespace cudal1::bench
