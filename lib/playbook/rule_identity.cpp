// SPDX-License-Identifier: Apache-2.0
#include "playbook/builder.hpp"
#include "playbook/rule.hpp"

namespace cudal1::playbook {
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

}  // namespace

bool identity(Dag& dag) {
  bool any = false;
  const Builder build(dag);
  for (std::size_t i = 0; i < dag.nodes.size(); ++i) {
    const Node& product = dag.nodes[i];
    if (product.kind != Kind::product) continue;
    for (std::size_t side = 0; side < 2; ++side) {
      const int other = product.operands[1 - side];
      if (!is_identity(build, product.operands[side]) || !(build.at(other).shape == product.shape)) continue;
      redirect(dag, static_cast<int>(i), other);
      any = true;
      break;
    }
  }
  if (any) dag = tidy(dag);
  return any;
}

}  // namespace cudal1::playbook
