// SPDX-License-Identifier: Apache-2.0
#include "algebra/rule.hpp"

namespace cudal1::algebra {
namespace {

// The vector of a diagonal matrix, as [1, n]; -1 for any other node.
int diagonal_of(const Builder& build, int id) {
  if (build.at(id).is<Permute>()) id = build.at(id).operands[0];  // its own transpose
  const auto found = selection(build, id);
  if (!found || found->function != "eq" || build.at(id).shape.size() != 2) return -1;
  const tensor::Shape& row = build.at(found->kept).shape;
  const bool on_diagonal = build.at(found->left).is<Coordinate>() && build.at(found->right).is<Coordinate>();
  return on_diagonal && row.size() == 2 && is_one(row[0]) && !is_one(row[1]) ? found->kept : -1;
}

}  // namespace

bool diagonal(Dag& dag) {
  Builder build(dag);
  return everywhere(dag, [&](int id) {
    const Node product = dag.at(id);
    if (!product.is<Product>()) return false;
    const int left = diagonal_of(build, product.operands[0]), right = diagonal_of(build, product.operands[1]);
    if (left < 0 && right < 0) return false;
    Node scaled{Pointwise{"mul"}, {product.operands[0], right}, product.dtype, product.shape};
    if (left >= 0) {
      const tensor::Shape row = dag.at(left).shape;
      scaled.operands = {build.reshape(left, {row[1], row[0]}), product.operands[1]};
    }
    redirect(dag, id, dag.add(scaled));
    return true;
  });
}

}  // namespace cudal1::algebra
