// SPDX-License-Identifier: Apache-2.0
#include "algebra/builder.hpp"
#include "algebra/rule.hpp"

#include <algorithm>
#include <optional>

namespace cudal1::algebra {
namespace {

// A square matrix with ones where the row is the column, and zeros else.
bool is_identity(const Builder& build, int id) {
  const Node& node = build.at(id);
  if (node.kind != Kind::pointwise || node.function != "where" || node.shape.size() != 2 ||
      !(node.shape[0] == node.shape[1]))
    return false;
  const Node& on = build.at(node.operands[0]);
  return on.function == "eq" && on.operands.size() == 2 && build.at(on.operands[0]).kind == Kind::coordinate &&
         build.at(on.operands[1]).kind == Kind::coordinate && build.literal_value(node.operands[1]) == 1.0 &&
         build.literal_value(node.operands[2]) == 0.0;
}

// The one number that an identity matrix is scaled by.
std::optional<int> scale_of(const Builder& build, int id) {
  const Node& node = build.at(id);
  if (node.kind != Kind::pointwise || node.function != "mul") return std::nullopt;
  for (std::size_t side = 0; side < 2; ++side) {
    const tensor::Shape& shape = build.at(node.operands[1 - side]).shape;
    if (is_identity(build, node.operands[side]) && std::all_of(shape.begin(), shape.end(), [](const tensor::Extent& extent) { return is_one(extent); }))
      return node.operands[1 - side];
  }
  return std::nullopt;
}

}  // namespace

bool identity(Dag& dag) {
  bool any = false;
  Builder build(dag);
  for (std::size_t i = 0; i < dag.nodes.size(); ++i) {
    const Node product = dag.nodes[i];
    if (product.kind != Kind::product) continue;
    for (std::size_t side = 0; side < 2; ++side) {
      int other = product.operands[1 - side];
      const auto scale = scale_of(build, product.operands[side]);
      if ((!scale && !is_identity(build, product.operands[side])) || !(build.at(other).shape == product.shape)) continue;
      if (scale) other = build.pointwise("mul", {other, *scale});
      redirect(dag, static_cast<int>(i), other);
      any = true;
      break;
    }
  }
  if (any) dag = tidy(dag);
  return any;
}

}  // namespace cudal1::algebra
