// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/expression.hpp"
#include "kernel/file.hpp"

#include <set>
#include <string>
#include <vector>

namespace cudal1::variants {

// The kernels of a file: each one's text and that of all functions and types it can reach, its launches, and the scratch that
// these name. Equal texts are equal kernels, whatever else their files hold. Where the reader is not sure it takes more into
// a text, so that kernels look different.
class KernelUnits {
 public:
  explicit KernelUnits(const kernel::File& file);

  // As one member of the family: with the values of the tunables that stand in each.
  std::set<std::string> of(const kernel::Environment& member) const;

 private:
  struct Unit {
    std::string text;
    std::set<std::string> words;
  };
  std::vector<Unit> units_;
};

}  // namespace cudal1::variants
