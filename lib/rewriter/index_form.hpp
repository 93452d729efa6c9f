// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::rewriter {

// An integer expression as a sum of products of names: `size_t(row) * K + k` is {row K: 1, k: 1}. What is neither a sum
// nor a product (`i % M`, a load) is a factor of its own, of which only is known which names it reads.
struct IndexForm {
  using Factors = std::vector<std::string>;  // sorted
  std::map<Factors, std::int64_t> terms;     // none is 0
  std::map<std::string, std::set<std::string>> opaque;  // factors that are no names, and what they read

  bool reads(const std::string& name) const;
  std::set<std::string> all_read() const;
  // name * 1 + what does not read it: neighbouring values lie side by side.
  bool steps_by_one(const std::string& name) const;
  bool operator==(const IndexForm& other) const { return terms == other.terms; }
};

using Definitions = std::map<std::string, IndexForm>;  // names that stand for an expression

// `blockIdx.x` and its like are one name each. Casts to integers are looked through, since an index that overflows is
// undefined on both sides.
IndexForm index_form(std::string_view expression, const Definitions& definitions);
IndexForm sum(const IndexForm& a, const IndexForm& b);

}  // namespace cudal1::rewriter
