// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algebra/dag.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace cudal1::algebra {

// One piece of algebra: an identity that turns a dag into a cheaper one with the same value up to rounding.
struct Rule {
  std::string_view name;      // "diagonal"
  std::string_view identity;  // "diag(a) @ B = a[:, None] * B"
  bool (*apply)(Dag& dag);    // everywhere it holds; false when nowhere
};

bool diagonal(Dag& dag);
bool linear_sums(Dag& dag);
bool dead_operations(Dag& dag);
bool chain_order(Dag& dag);
bool transposed_product(Dag& dag);
bool reversed_scan(Dag& dag);
bool identity(Dag& dag);
bool one_hot(Dag& dag);
bool symmetric(Dag& dag);
bool triangular(Dag& dag);
bool shift(Dag& dag);
bool constants(Dag& dag);
bool strength(Dag& dag);

const std::vector<Rule>& rules();  // in the order in which they are applied

// Replaces every use of `from` by `to`.
void redirect(Dag& dag, int from, int to);
// Operands before their users again, and nothing that no output needs.
Dag tidy(const Dag& dag);
// Calls `rewrite` for every node, those that it adds included, and tidies the dag if it said of any that it has changed something.
template <typename Rewrite>
bool everywhere(Dag& dag, Rewrite rewrite) {
  bool any = false;
  for (std::size_t i = 0; i < dag.nodes.size(); ++i) any = rewrite(static_cast<int>(i)) || any;
  if (any) dag = tidy(dag);
  return any;
}

}  // namespace cudal1::algebra
