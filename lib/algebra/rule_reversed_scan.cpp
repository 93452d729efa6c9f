// SPDX-License-Identifier: Apache-2.0
#include "algebra/rule.hpp"

namespace cudal1::algebra {
namespace {

bool turns(const Node& node, int dim) {
  if (!node.is<Slice>()) return false;
  const std::vector<int>& steps = node.as<Slice>().steps;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i] != (static_cast<int>(i) == dim ? -1 : 1)) return false;
  return true;
}

}  // namespace

bool reversed_scan(Dag& dag) {
  return everywhere(dag, [&](int id) {
    const Node& outer = dag.at(id);
    if (!outer.is<Slice>()) return false;
    Node scan = dag.at(outer.operands[0]);
    if (!scan.is<Scan>() || !turns(outer, scan.as<Scan>().dim)) return false;
    const Node& inner = dag.at(scan.operands[0]);
    if (!turns(inner, scan.as<Scan>().dim) || !(inner.shape == dag.at(inner.operands[0]).shape)) return false;
    scan.operands = inner.operands;
    std::get<Scan>(scan.operation).reverse = !scan.as<Scan>().reverse;
    dag.at(id) = std::move(scan);
    return true;
  });
}

}  // namespace cudal1::algebra
