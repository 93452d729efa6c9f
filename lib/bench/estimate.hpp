// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/verdict.hpp"

#include <span>
#include <vector>

namespace cudal1::bench {

// A logarithm of a speed-up with its interval. exp(mean) > 1 says that the variant is faster than the reference.
struct Estimate {
  double mean = 0;            // trimmed mean of ln(reference time / variant time)
  double standard_error = 0;
  double half_width = 0;      // of the interval, timer guard included; infinite when there are too few pairs
  double guard = 0;           // the timer's part of half_width
  int pairs = 0;

  double low() const { return mean - half_width; }
  double high() const { return mean + half_width; }
  outcome::Speedup speedup() const;
};

// Yuen's interval on the 20 % trimmed mean of the paired log-ratios at level 1 − alpha, widened by `guard`, because a
// coarse clock is a bias that no number of pairs removes. Yuen, "The two-sample trimmed t for unequal population
// variances", Biometrika 61, 1974, in its one-sample form.
Estimate estimate(std::span<const double> log_ratios, double alpha, double guard);

// Half a tick of the clock, relative to the shortest sample: `tick` and `shortest` in the same unit.
double timer_guard(double tick, double shortest);

// The speed-up over a first kernel of a third that was measured against a second: `second` over the first, times `third`
// over the second.
Estimate chain(const Estimate& second, const Estimate& third);

// The weighted geometric mean of several workloads' speed-ups. Weights need not sum to 1.
Estimate combine(std::span<const Estimate> parts, std::span<const double> weights);

}  // namespace cudal1::bench
