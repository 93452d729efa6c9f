// SPDX-License-Identifier: Apache-2.0
#include "algebra/rule.hpp"

#include <algorithm>

namespace cudal1::algebra {
namespace {

// The reduction of `of` that `id` is: its largest, its smallest or its mean along dimensions; -1 when it is none.
int summary(const Builder& build, int id, int of) {
  const auto reduces = [&](int node, bool sum) {
    const Node& each = build.at(node);
    return each.is<Reduce>() && each.operands[0] == of && (sum ? each.reduces("sum") : each.reduces("max") || each.reduces("min"));
  };
  if (reduces(id, false)) return id;
  const Node& node = build.at(id);
  if (!node.computes("div") || !reduces(node.operands[0], true)) return -1;
  // A mean divides by as many as there are.
  const Node& sum = build.at(node.operands[0]);
  const Node& number = build.at(node.operands[1]);
  return number.is<Number>() && number.as<Number>().extent == build.count(of, sum.as<Reduce>().dims) ? node.operands[0] : -1;
}

}  // namespace

bool shift(Dag& dag) {
  Builder build(dag);
  return everywhere(dag, [&](int own) {
    const Node minus = dag.at(own);
    if (!minus.computes("sub")) return false;
    const int shifted = minus.operands[0];
    const Node sum = dag.at(shifted);
    if (!sum.computes("add") && !sum.computes("sub")) return false;
    const int reduce_id = summary(build, minus.operands[1], shifted);
    if (reduce_id < 0) return false;
    // Whatever else wants the shifted tensor or its summary keeps both alive: then nothing is saved.
    const auto only = [&](int id, int user) { return users(dag, id) == std::vector<int>{user}; };
    const bool mean = reduce_id != minus.operands[1];
    const auto of_shifted = users(dag, shifted);
    if (!only(minus.operands[1], own) || (mean && !only(reduce_id, minus.operands[1])) ||
        !std::all_of(of_shifted.begin(), of_shifted.end(), [&](int user) { return user == own || user == reduce_id; }))
      return false;
    const Node reduce = dag.at(reduce_id);
    for (std::size_t side = 0; side < (sum.computes("add") ? 2u : 1u); ++side) {
      const int kept = sum.operands[side];
      if (!(dag.at(kept).shape == sum.shape) ||
          !constant_along(dag, sum.operands[1 - side], sum, reduce.as<Reduce>().dims))
        continue;
      Node again = reduce;
      again.operands = {kept};
      int level = dag.add(again);
      if (mean) {
        Node quotient = dag.at(minus.operands[1]);
        quotient.operands[0] = level;
        level = dag.add(quotient);
      }
      redirect(dag, own, build.pointwise("sub", {kept, level}));
      return true;
    }
    return false;
  });
}

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
