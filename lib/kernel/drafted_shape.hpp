// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/expression.hpp"
#include "kernel/kernel_facts.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::kernel {

// A host expression as a polynomial over sizes; what is no sum or product becomes an atom of its text.
Polynomial polynomial_of(const Expression& expression);

// What the accesses of all launches to one buffer come to.
struct SeenElements {
  std::vector<Polynomial> extents, strides;
  bool unknown = false;
};

// `[rows, cols]` for a buffer whose largest index is rows * cols - 1 and which is counted in steps of cols. Empty where
// no single largest extent can be told.
std::optional<std::string> shape_of(const SeenElements& seen);

// The same for a buffer whose allocation says how many elements it has, as `[N * M]`: in rows where it is counted in steps of a size,
// or of the number that one of `sizes` is.
std::string in_rows(const std::string& shape, const SeenElements& seen, const std::map<std::string, Expression>& sizes);

// Values for the atoms "@x" (one past the largest value of the index buffer x), as far as other accesses tell: an index
// into rows that another access counts to `rows` is below `rows`.
void tie_indices(const SeenElements& seen, std::map<std::string, Polynomial>& known);

// A value for a size that nothing gives one, by its name and by how many sizes multiply with it.
std::int64_t guessed_size(const std::string& name, int factors);
// A value for a real parameter, by its name.
std::string guessed_real(const std::string& name);

}  // namespace cudal1::kernel
