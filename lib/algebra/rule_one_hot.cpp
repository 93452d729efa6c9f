// SPDX-License-Identifier: Apache-2.0
#include "algebra/builder.hpp"
#include "algebra/rule.hpp"

namespace cudal1::algebra {
namespace {

// The classes that a one-hot matrix [n, k] names, as [n, 1]; -1 for any other node.
int classes_of(const Builder& build, int id) {
  while (build.at(id).kind == Kind::pointwise && build.at(id).function == "identity" && build.at(build.at(id).operands[0]).shape == build.at(id).shape)
    id = build.at(id).operands[0];  // a cast
  const Node& node = build.at(id);
  if (node.kind != Kind::pointwise || node.function != "where" || node.shape.size() != 2 || build.literal_value(node.operands[1]) != 1.0 ||
      build.literal_value(node.operands[2]) != 0.0)
    return -1;
  const Node& on = build.at(node.operands[0]);
  if (on.function != "eq" || on.operands.size() != 2) return -1;
  const Node &column = build.at(on.operands[0]), &named = build.at(on.operands[1]);
  const bool along = column.kind == Kind::coordinate && column.shape.size() == 2 && is_one(column.shape[0]);
  const bool rows = named.shape.size() == 2 && is_one(named.shape[1]) && named.kind != Kind::coordinate && !tensor::is_floating(named.dtype);
  return along && rows ? on.operands[1] : -1;
}

}  // namespace

bool one_hot(Dag& dag) {
  bool any = false;
  Builder build(dag);
  for (std::size_t i = 0; i < dag.nodes.size(); ++i) {
    if (dag.nodes[i].kind != Kind::product || dag.nodes[i].shape.size() != 2) continue;
    const Node product = dag.nodes[i];
    for (const std::size_t side : {0U, 1U}) {
      const int factor = product.operands[side];
      const bool turned = build.at(factor).kind == Kind::permute;  // of a matrix: its transpose
      if (turned != (side == 1)) continue;
      int classes = classes_of(build, turned ? build.at(factor).operands[0] : factor);
      if (classes < 0) continue;
      while (build.at(classes).kind == Kind::reshape) classes = build.at(classes).operands[0];
      Node gather;
      gather.kind = Kind::gather;
      gather.function = "gather";
      gather.dtype = product.dtype;
      gather.shape = product.shape;
      gather.dims = {static_cast<int>(side)};
      gather.operands = {product.operands[1 - side], classes};
      redirect(dag, static_cast<int>(i), build.add(gather));
      any = true;
      break;
    }
  }
  if (any) dag = tidy(dag);
  return any;
}

}  // namespace cudal1::algebra
