// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/expression.hpp"

#include <set>
#include <string>

namespace cudal1::kernel {

// Expressions as a host function writes them: C++ in 64-bit integers and doubles.
class LauncherExpressions {
 public:
  // A scalar of a floating type, which is computed with as a double.
  void note_real(const std::string& scalar) { reals_.insert(scalar); }

  std::string text(const Expression& expression);
  std::string operand(const Expression& expression);  // the same, in brackets where it is more than a name or number
  std::string functions() const;                      // definitions of those that expressions so far have called

 private:
  std::set<std::string> reals_, called_;
};

}  // namespace cudal1::kernel
