// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace cudal1::reference {

// How far an output is from the truth, in multiples of sigma, the standard deviation of a sound computation's error
// (tensor/rounding.hpp): for a set of elements the root of Σ error² over that of Σ sigma².
struct Deviation {
  double whole = 0;
  double count = 0;               // independent errors that the whole is made of, at most: (Σ S)² / Σ S² with S the sums of
                                  // sigma² over the slices of the axis that gives least, times errors_within() a slice
  double slice = 0;               // largest of a slice: all elements with one index along one axis, or one row
  std::size_t slice_count = 0;    // elements of that slice
  std::string slice_name;         // "index 12 of axis 0"
  double element = 0;             // largest of one element
  double bias = 0;                // of results in 16 bits: |mean of error · sign of the truth| over the mean of sigma
};

// The rule of right, the same for kernel files, PyTorch modules, published answers and comparisons at full size: an
// output is right if it is off by at most 3 sigma as a whole, 8 sigma in each slice and 32 sigma in each element. Few
// errors scatter more: of n independent ones the whole may be off by 3 (1 + 4/√n). docs/right.md says where these come from.
// Results in 16 bits must be rounded, not cut off: their mean error away from or towards 0 is at most 0.75 sigma.
// `leniency` multiplies all bounds, for a task's own kernel.
//
// Empty when right; else one line with error, bound and ratio.
std::string judge(const Deviation& deviation, double leniency = 1);

double whole_bound(double count);

// Independent errors within one slice, at least, from how the slices' ratios of error² to sigma² scatter: a mean of m squares of
// normal numbers has the relative variance 2/m. `sum` and `squares` of the ratios of `slices` slices; the variance is taken at the upper end of
// its 95 % interval (Wilson and Hilferty's quantile of chi-squared). 1 where that says nothing.
double errors_within(double sum, double squares, double slices);
// Sigma that was sampled may be far too small where a result is just beyond a threshold (a ReLU's) that no run crossed far.
// One element in 100,000, or one, may therefore be off by more than its own sigma allows, by at most 8 of what is usual in each slice that it lies in.
inline constexpr double stray_share = 1e-5, stray_bound = 8;
inline constexpr double slice_bound = 8, element_bound = 32, bias_bound = 0.75;

// Slices of fewer elements than this are left to the bounds for elements.
inline constexpr std::size_t shortest_slice = 16;

}  // namespace cudal1::reference
