// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algebra/builder.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::algebra {

using Rewrite = bool(Dag& dag);  // everywhere it holds; false when nowhere

// One piece of algebra: an identity that turns a dag into a cheaper one with the same value up to rounding.
struct Rule {
  std::string_view name;      // "diagonal"
  std::string_view identity;  // "diag(a) @ B = a[:, None] * B"
  Rewrite* apply;
};

Rewrite diagonal, linear_sums, dead_operations, chain_order, transposed_product, reversed_scan, one_hot, symmetric, triangular, shift, constants,
    strength;

const std::vector<Rule>& rules();  // in the order in which they are applied

// What a mask keeps, as lowering spells it: where(left function right, kept, 0).
struct Selection {
  std::string function;
  int left, right, kept;
};
std::optional<Selection> selection(const Builder& build, int id);
// Whether `id`, broadcast to `whole`, has the same values all along these dimensions.
bool constant_along(const Dag& dag, int id, const Node& whole, const std::vector<int>& dims);
// The nodes that have it as an operand, each as often as they do; -1 for an output.
std::vector<int> users(const Dag& dag, int id);
// Replaces every use of `from` by `to`.
void redirect(Dag& dag, int from, int to);
// Operands before their users again, and nothing that no output needs.
Dag tidy(const Dag& dag);
// Calls `rewrite` for every node, those that it adds included, and tidies the dag if it said of any that it has changed something.
template <typename Each>
bool everywhere(Dag& dag, Each rewrite) {
  bool any = false;
  for (std::size_t i = 0; i < dag.nodes.size(); ++i) any = rewrite(static_cast<int>(i)) || any;
  if (any) dag = tidy(dag);
  return any;
}

}  // namespace cudal1::algebra
