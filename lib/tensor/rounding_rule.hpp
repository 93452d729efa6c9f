// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/call.hpp"

#include <string>
#include <string_view>

namespace cudal1::tensor {

// How far a sound float computation of one function may be from its value. u is the unit roundoff of the arithmetic.
struct RoundingRule {
  enum class Kind {
    exact,      // moves or selects elements, or compares them
    function,   // of single elements: 0.41 u · sqrt(((1 + ulps)·|value|)² + floor²)
    sum,        // linear in each floating operand: sums of products of one element of each
    scan,       // running sums along `dim`
    product,    // of many factors: 0.41 u · sqrt(2n)·|value|
    composed,   // as the line `body()` computes it
    backward,   // anything else: as if each operand had been rounded about once for each root of the terms
  };
  Kind kind = Kind::backward;
  // For a function: the largest error of CUDA's own implementation, in units in the last place ("Mathematical Functions"
  // in the CUDA C++ Programming Guide), and the size of the numbers as whose difference it is commonly computed, as tanh
  // is 1 - 2 / (exp(2x) + 1).
  double ulps = 0, floor = 0;
};

// The rule of a function by its canonical name; nullptr for a name without one.
const RoundingRule* rounding_rule(std::string_view function);

// The torch line that assigns `y` what a composed function is made of, in its own parameter names: the least exact of
// the formulas in common use. Empty: the attributes leave the common case, and the rule `backward` holds.
std::string rounding_body(const Call& call);

}  // namespace cudal1::tensor
