// SPDX-License-Identifier: Apache-2.0
#include "algebra/rule.hpp"

#include <algorithm>
#include <optional>

namespace cudal1::algebra {
namespace {

// A square matrix with ones where the row is the column, and zeros else.
bool is_identity(const Builder& build, int id) {
  const tensor::Shape& shape = build.at(id).shape;
  const auto found = selection(build, id);
  return found && found->function == "eq" && shape.size() == 2 && shape[0] == shape[1] && build.at(found->left).is<Coordinate>() &&
         build.at(found->right).is<Coordinate>() && build.literal_value(found->kept) == 1.0;
}

// The one number that an identity matrix is scaled by.
std::optional<int> scale_of(const Builder& build, int id) {
  const Node& node = build.at(id);
  if (!node.computes("mul")) return std::nullopt;
  for (std::size_t side = 0; side < 2; ++side) {
    const tensor::Shape& shape = build.at(node.operands[1 - side]).shape;
    if (is_identity(build, node.operands[side]) && std::all_of(shape.begin(), shape.end(), tensor::is_one))
      return node.operands[1 - side];
  }
  return std::nullopt;
}

}  // namespace

bool identity(Dag& dag) {
  Builder build(dag);
  return everywhere(dag, [&](int id) {
    const Node product = dag.at(id);
    if (!product.is<Product>()) return false;
    for (std::size_t side = 0; side < 2; ++side) {
      int other = product.operands[1 - side];
      const auto scale = scale_of(build, product.operands[side]);
      if ((!scale && !is_identity(build, product.operands[side])) || !(build.at(other).shape == product.shape)) continue;
      if (scale) other = build.pointwise("mul", {other, *scale});
      redirect(dag, id, other);
      return true;
    }
    return false;
  });
}

}  // namespace cudal1::algebra
