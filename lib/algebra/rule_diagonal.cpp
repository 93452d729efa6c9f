// SPDX-License-Identifier: Apache-2.0
#include "algebra/builder.hpp"
#include "algebra/rule.hpp"

namespace cudal1::algebra {
namespace {

// The vector of a diagonal matrix as lowering spells it; -1 for any other node.
int diagonal_of(const Dag& dag, int id) {
  const auto at = [&](int node) -> const Node& { return dag.at(node); };
  if (at(id).is<Permute>()) id = at(id).operands[0];  // its own transpose
  const Node& node = at(id);
  if (!node.computes("where") || node.shape.size() != 2) return -1;
  const Node& on = at(node.operands[0]);
  if (!on.computes("eq") || !at(on.operands[0]).is<Coordinate>() ||
      !at(on.operands[1]).is<Coordinate>())
    return -1;
  const Node& zero = at(node.operands[2]);
  if (!zero.is<Number>() || zero.as<Number>().text != "0") return -1;
  const Node& row = at(node.operands[1]);  // the vector as [1, n]
  if (row.shape.size() != 2 || !is_one(row.shape[0]) || is_one(row.shape[1])) return -1;
  return node.operands[1];
}

}  // namespace

bool diagonal(Dag& dag) {
  return everywhere(dag, [&](int id) {
    if (!dag.at(id).is<Product>()) return false;
    const Node product = dag.at(id);
    const int left = diagonal_of(dag, product.operands[0]), right = diagonal_of(dag, product.operands[1]);
    if (left < 0 && right < 0) return false;
    Node scaled{Pointwise{"mul"}, {}, product.dtype, product.shape};
    if (left >= 0) {
      const tensor::Shape& row = dag.at(left).shape;
      const tensor::Shape column = {row[1], row[0]};
      scaled.operands = {Builder(dag).reshaped(left, column), product.operands[1]};
    } else {
      scaled.operands = {product.operands[0], right};
    }
    redirect(dag, id, dag.add(scaled));
    return true;
  });
}

}  // namespace cudal1::algebra
