// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cudal1::algebra {

// A function of single elements as C++ text: `$0` … are its operands. CUDA's overloads choose float or double.
struct PointwiseFunction {
  std::string_view name;
  int operands;
  std::string_view text;
  bool costly = false;  // worth a register rather than a second evaluation
  bool truth = false;   // the result is bool
  std::string_view numbers = {};  // attributes of the torch function that are its last operands: "beta threshold"
};

const PointwiseFunction* find_pointwise(std::string_view name);  // null: not known

// `function` applied to operands that are names or literals.
std::string spelt(const PointwiseFunction& function, const std::vector<std::string>& operands);

}  // namespace cudal1::algebra
