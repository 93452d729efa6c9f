// SPDX-License-Identifier: Apache-2.0
#include "algebra/rule.hpp"

namespace cudal1::algebra {
namespace {

// The classes that a one-hot matrix [n, k] names, as [n, 1]; -1 for any other node.
int classes_of(const Builder& build, int id) {
  while (build.at(id).computes("identity") && build.at(build.at(id).operands[0]).shape == build.at(id).shape)
    id = build.at(id).operands[0];  // a cast
  const auto found = selection(build, id);
  if (!found || found->function != "eq" || build.at(id).shape.size() != 2 || build.literal_value(found->kept) != 1.0) return -1;
  const Node &column = build.at(found->left), &named = build.at(found->right);
  const bool along = column.is<Coordinate>() && column.shape.size() == 2 && is_one(column.shape[0]);
  const bool rows = named.shape.size() == 2 && is_one(named.shape[1]) && !named.is<Coordinate>() && !tensor::is_floating(named.dtype);
  return along && rows ? found->right : -1;
}

}  // namespace

bool one_hot(Dag& dag) {
  Builder build(dag);
  return everywhere(dag, [&](int id) {
    const Node product = dag.at(id);
    if (!product.is<Product>() || product.shape.size() != 2) return false;
    for (const std::size_t side : {0U, 1U}) {
      const int factor = product.operands[side];
      const bool turned = build.at(factor).is<Permute>();  // of a matrix: its transpose
      if (turned != (side == 1)) continue;
      int classes = classes_of(build, turned ? build.at(factor).operands[0] : factor);
      if (classes < 0) continue;
      while (build.at(classes).is<Reshape>()) classes = build.at(classes).operands[0];
      redirect(dag, id, build.add({Gather{side == 0}, {product.operands[1 - side], classes}, product.dtype, product.shape}));
      return true;
    }
    return false;
  });
}

}  // namespace cudal1::algebra
