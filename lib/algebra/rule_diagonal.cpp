// SPDX-License-Identifier: Apache-2.0
#include "algebra/builder.hpp"
#include "algebra/rule.hpp"

namespace cudal1::algebra {
namespace {

// The vector of a diagonal matrix as lowering spells it; -1 for any other node.
int diagonal_of(const Dag& dag, int id) {
  const auto at = [&](int node) -> const Node& { return dag.nodes[static_cast<std::size_t>(node)]; };
  if (at(id).kind == Kind::permute) id = at(id).operands[0];  // its own transpose
  const Node& node = at(id);
  if (node.kind != Kind::pointwise || node.function != "where" || node.shape.size() != 2) return -1;
  const Node& on = at(node.operands[0]);
  if (on.function != "eq" || on.operands.size() != 2 || at(on.operands[0]).kind != Kind::coordinate ||
      at(on.operands[1]).kind != Kind::coordinate)
    return -1;
  const Node& zero = at(node.operands[2]);
  if (zero.kind != Kind::number || zero.function != "0") return -1;
  const Node& row = at(node.operands[1]);  // the vector as [1, n]
  if (row.shape.size() != 2 || !is_one(row.shape[0]) || is_one(row.shape[1])) return -1;
  return node.operands[1];
}

}  // namespace

bool diagonal(Dag& dag) {
  bool any = false;
  for (std::size_t i = 0; i < dag.nodes.size(); ++i) {
    if (dag.nodes[i].kind != Kind::product) continue;
    const Node product = dag.nodes[i];
    const int left = diagonal_of(dag, product.operands[0]), right = diagonal_of(dag, product.operands[1]);
    if (left < 0 && right < 0) continue;
    Node scaled;
    scaled.kind = Kind::pointwise;
    scaled.function = "mul";
    scaled.dtype = product.dtype;
    scaled.shape = product.shape;
    if (left >= 0) {
      const tensor::Shape& row = dag.nodes[static_cast<std::size_t>(left)].shape;
      const tensor::Shape column = {row[1], row[0]};
      scaled.operands = {Builder(dag).reshaped(left, column), product.operands[1]};
    } else {
      scaled.operands = {product.operands[0], right};
    }
    redirect(dag, static_cast<int>(i), dag.add(scaled));
    any = true;
  }
  if (any) dag = tidy(dag);
  return any;
}

}  // namespace cudal1::algebra
