// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/evaluate.hpp"

#include <map>
#include <string>
#include <vector>

namespace cudal1::tensor {

// Rounding errors are taken to be independent, with this root mean square in units of u·|value|: the error of rounding to
// nearest is uniform within half a unit in the last place, and mantissas are spread evenly over a binade.
inline constexpr double rounding_rms = 0.41;

// Terms that one float32 accumulator may take; longer sums are to be added up in parts.
inline constexpr double longest_accumulation = 1 << 17;

struct RoundingOptions {
  // Relative error that operands of type float32 may be rounded with before they are multiplied; 0: they are not rounded.
  double convolution_operands = 0, product_operands = 0;
  int runs = 16;                // with disturbed intermediates
  std::uint64_t seed = 0;       // of the disturbances
  int threads = 1;
};

// One output of a line in double precision, and how far sound float arithmetic may be from it.
struct RoundedArray {
  Array value;
  // Standard deviation of the error of each element; empty where the output is no floating type.
  std::vector<double> sigma;
  // Some of sigma is estimated from the runs, not from a formula, so that one element's may be too small by chance.
  bool sampled = false;
  // Of an output that is no floating type: the values of disturbed runs in which it differs.
  std::vector<std::vector<double>> alternatives;
};

// Evaluates a line as evaluate() does, and the error that rounding may add up to in each element of its outputs.
//
// Each function has a rule (rounding_rule.hpp) for the error of its own arithmetic. For a sum of n terms whose value is s,
// with Q the sum of the terms' squares, it is the error of one accumulator that takes the terms in a random order: partial
// sums go from 0 to s like a random bridge, of variance k/n (1 - k/n) Q about k/n s, and each is rounded once, so
//
//   sigma² = (0.41 u)² [n (s²/3 + Q/6) + Q + s²]
//
// where Q and s² at the end stand for the roundings of the terms and of the result. Every blocked, split or tree order is
// better. Sums of integers below 1/u are exact in any order; where terms take few values their roundings repeat, and the
// error grows with n instead of its root. How errors of one function move the results of the next is seen in `runs`
// evaluations, each with all intermediate results disturbed by their own sigma.
tl::expected<std::map<std::string, RoundedArray>, base::Diagnostic> evaluate_rounded(const Graph& graph,
                                                                                     const std::map<std::string, Array>& inputs,
                                                                                     const std::map<std::string, double>& scalars,
                                                                                     const RoundingOptions& options);

}  // namespace cudal1::tensor
