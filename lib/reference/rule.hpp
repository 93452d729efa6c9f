// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/dtype.hpp"

#include <cstddef>
#include <string>

namespace cudal1::reference {

// How far an output is from the truth, in multiples of sigma, the standard deviation of a sound computation's error
// (tensor/rounding.hpp): for a set of elements the root of Σ error² over that of Σ sigma².
struct Deviation {
  double whole = 0;
  double count = 0;               // independent errors that the whole is made of, at most: independent_errors() of the axis
                                  // that gives least
  double slice = 0;               // largest of a slice: all elements with one index along one axis, or one row
  std::size_t slice_count = 0;    // elements of that slice
  std::string slice_name;         // "index 12 of axis 0"
  double element = 0;             // largest of one element
  double bias = 0;                // of results in 16 bits: |mean of what they differ by from the rounded truth · its sign| over the mean of sigma
  double alike = 0;               // the share of pairs of these results, zeros apart, that are the same number: their errors are no two
};

// The rule of right, the same for kernel files, PyTorch modules, published answers and comparisons at full size: an
// output is right if it is off by at most 3 sigma as a whole, 8 sigma in each slice and 32 sigma in each element. Few
// errors scatter more: of n independent ones the whole may be off by 3 (1 + 4/√n). docs/right.md says where these come from.
// Results in 16 bits must be rounded, not cut off: their mean error away from or towards 0 is at most 0.5 sigma.
// `leniency` multiplies all bounds, for a task's own kernel.
//
// Empty when right; else one line with error, bound and ratio.
std::string judge(const Deviation& deviation, double leniency = 1);

double whole_bound(double count);

// What the slices of one axis, or rows, are made of: sums over them.
struct Slices {
  double share = 0;     // Σ S² / (Σ S)², with S a slice's sum of sigma²; 0 where nothing is known
  double ratios = 0;    // of each one's error² to its sigma²
  double squares = 0;   // of these
  double count = 0;
};
// Independent errors that all of them are made of, at most: 1 / share, times how many there are within one slice, at least. That follows from how
// the ratios scatter: a mean of m squares of normal numbers has the relative variance 2/m, taken at the upper end of its 95 % interval
// (Wilson and Hilferty's quantile of chi-squared); 1 where that says nothing.
double independent_errors(const Slices& slices);

// Every number of the rule stands here, and comparison.py, which measures in a GPU's memory, is given them (pytorch/measured.hpp).
// Sigma that was sampled may be far too small where a result is just beyond a threshold (a ReLU's) that no run crossed far.
// One element in 100,000, or one, may therefore be off by more than its own sigma allows, by at most 8 of what is usual in each slice that it lies in.
inline constexpr double stray_share = 1e-5, stray_bound = 8;
inline constexpr std::size_t looked_at_alike = 4096;
// Before sampled sigma refuses slices or elements of a module, sound computations are made up: what is right may be as many times what these show.
inline constexpr double sound_factor = 2;
inline constexpr double slice_bound = 8, element_bound = 32, bias_bound = 0.5;

// Sigma that was sampled is raised where it is 0, and anywhere if from few runs, to this share of the mean variance along each
// axis and of so many neighbours in a row of at least twice as many.
inline constexpr double floor_share = 1.0 / 16;   // of a variance: a quarter of its root
inline constexpr std::size_t neighbours = 64;
inline constexpr int enough_runs = 12;

// The smallest error of a float that is no fault: a step of subnormal numbers, in any short type.
double least_step(tensor::Dtype dtype);

// Slices of fewer elements than this are left to the bounds for elements.
inline constexpr std::size_t shortest_slice = 16;

}  // namespace cudal1::reference
