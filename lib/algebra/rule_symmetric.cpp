// SPDX-License-Identifier: Apache-2.0
#include "algebra/rule.hpp"

#include <algorithm>
#include <set>

namespace cudal1::algebra {
namespace {

bool swaps(const Node& node) { return node.is<Permute>() && node.as<Permute>().swaps_last(); }

// Whether b is a with its last two dimensions swapped, by how both are made.
bool turned(const Dag& dag, int a, int b, int depth = 0) {
  const Node &x = dag.at(a), &y = dag.at(b);
  if (depth > 16) return false;
  if ((swaps(x) && x.operands[0] == b) || (swaps(y) && y.operands[0] == a)) return true;
  if (x.is<Number>()) return a == b;
  if (x.operation.index() != y.operation.index() || x.function() != y.function() || x.shape.size() != y.shape.size() || x.shape.size() < 2) return false;
  const std::size_t rank = x.shape.size();
  if (!(x.shape[rank - 1] == y.shape[rank - 2]) || !(x.shape[rank - 2] == y.shape[rank - 1])) return false;
  const auto pair = [&](std::size_t i, std::size_t k) { return turned(dag, x.operands[i], y.operands[k], depth + 1); };
  if (x.is<Coordinate>()) return is_one(x.shape[rank - 1]) != is_one(x.shape[rank - 2]);
  if (x.is<Product>()) return pair(0, 1) && pair(1, 0);
  if (!x.is<Pointwise>() || x.operands.size() != y.operands.size()) return false;
  bool same = true;
  for (std::size_t i = 0; i < x.operands.size(); ++i) same = same && pair(i, i);
  static const std::set<std::string> commutative = {"add", "mul", "maximum", "minimum", "eq", "ne", "logical_and", "logical_or"};
  return same || (commutative.count(x.function()) != 0 && pair(0, 1) && pair(1, 0));
}

}  // namespace

bool symmetric(Dag& dag) {
  return everywhere(dag, [&](int id) {
    if (!swaps(dag.at(id)) || !turned(dag, dag.at(id).operands[0], dag.at(id).operands[0])) return false;
    redirect(dag, id, dag.at(id).operands[0]);
    return true;
  });
}

}  // namespace cudal1::algebra
