// SPDX-License-Identifier: Apache-2.0
#include "algebra/rule.hpp"

namespace cudal1::algebra {
namespace {

bool turns(const Node& node, int dim) {
  if (node.kind != Kind::slice) return false;
  for (std::size_t i = 0; i < node.dims.size(); ++i)
    if (node.dims[i] != (static_cast<int>(i) == dim ? -1 : 1)) return false;
  return true;
}

}  // namespace

bool reversed_scan(Dag& dag) {
  bool any = false;
  const auto at = [&](int id) -> Node& { return dag.nodes[static_cast<std::size_t>(id)]; };
  for (std::size_t i = 0; i < dag.nodes.size(); ++i) {
    const Node outer = dag.nodes[i];
    if (outer.kind != Kind::slice) continue;
    const Node scan = at(outer.operands[0]);
    if (scan.kind != Kind::scan || !turns(outer, scan.dims[0])) continue;
    const Node inner = at(scan.operands[0]);
    if (!turns(inner, scan.dims[0]) || !(inner.shape == at(inner.operands[0]).shape)) continue;
    Node reversed = scan;
    reversed.operands = inner.operands;
    reversed.attributes["reverse"] = !std::get<bool>(scan.attributes.at("reverse"));
    dag.nodes[i] = reversed;
    any = true;
  }
  if (any) dag = tidy(dag);
  return any;
}

}  // namespace cudal1::algebra
