// SPDX-License-Identifier: Apache-2.0
#include "algebra/rule.hpp"

#include <algorithm>
#include <set>

namespace cudal1::algebra {
namespace {

bool swaps(const Node& node) {
  if (node.kind != Kind::permute || node.dims.size() < 2) return false;
  const auto rank = static_cast<int>(node.dims.size());
  for (int i = 0; i < rank; ++i)
    if (node.dims[static_cast<std::size_t>(i)] != (i == rank - 1 ? rank - 2 : i == rank - 2 ? rank - 1 : i)) return false;
  return true;
}

// Whether b is a with its last two dimensions swapped, by how both are made.
bool turned(const Dag& dag, int a, int b, int depth = 0) {
  const Node &x = dag.nodes[static_cast<std::size_t>(a)], &y = dag.nodes[static_cast<std::size_t>(b)];
  if (depth > 16) return false;
  if ((swaps(x) && x.operands[0] == b) || (swaps(y) && y.operands[0] == a)) return true;
  if (x.kind == Kind::number) return a == b;
  if (x.kind != y.kind || x.function != y.function || x.shape.size() != y.shape.size() || x.shape.size() < 2) return false;
  const std::size_t rank = x.shape.size();
  if (!(x.shape[rank - 1] == y.shape[rank - 2]) || !(x.shape[rank - 2] == y.shape[rank - 1])) return false;
  const auto pair = [&](std::size_t i, std::size_t k) { return turned(dag, x.operands[i], y.operands[k], depth + 1); };
  if (x.kind == Kind::coordinate) return is_one(x.shape[rank - 1]) != is_one(x.shape[rank - 2]);
  if (x.kind == Kind::product) return pair(0, 1) && pair(1, 0);
  if (x.kind != Kind::pointwise || x.operands.size() != y.operands.size()) return false;
  bool same = true;
  for (std::size_t i = 0; i < x.operands.size(); ++i) same = same && pair(i, i);
  static const std::set<std::string> commutative = {"add", "mul", "maximum", "minimum", "eq", "ne", "logical_and", "logical_or"};
  return same || (commutative.count(x.function) != 0 && pair(0, 1) && pair(1, 0));
}

}  // namespace

bool symmetric(Dag& dag) {
  bool any = false;
  for (std::size_t i = 0; i < dag.nodes.size(); ++i) {
    if (!swaps(dag.nodes[i]) || !turned(dag, dag.nodes[i].operands[0], dag.nodes[i].operands[0])) continue;
    redirect(dag, static_cast<int>(i), dag.nodes[i].operands[0]);
    any = true;
  }
  if (any) dag = tidy(dag);
  return any;
}

}  // namespace cudal1::algebra
