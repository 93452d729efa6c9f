// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/polynomial.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace cudal1::rewriter {

// An integer expression as a polynomial over names: `size_t(row) * K + k`. What is neither a sum nor a product (`i % M`, a load)
// is an atom of its own, of which only is known which names it reads.
struct IndexForm {
  kernel::Polynomial value;
  std::map<std::string, std::set<std::string>> opaque = {};  // atoms that are no names, and what they read

  bool reads(const std::string& name) const;
  std::set<std::string> all_read() const;
  // name * 1 + what does not read it: neighbouring values lie side by side.
  bool steps_by_one(const std::string& name) const;
  bool operator==(const IndexForm& other) const { return value == other.value; }
};

using Definitions = std::map<std::string, IndexForm>;  // names that stand for an expression

// `blockIdx.x` and its like are one name each. Casts to integers are looked through, since an index that overflows is
// undefined on both sides.
IndexForm index_form(std::string_view expression, const Definitions& definitions);
IndexForm sum(const IndexForm& a, const IndexForm& b);

}  // namespace cudal1::rewriter
