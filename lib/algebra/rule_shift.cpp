// SPDX-License-Identifier: Apache-2.0
#include "algebra/builder.hpp"
#include "algebra/rule.hpp"

#include <algorithm>

namespace cudal1::algebra {
namespace {

std::vector<int> users(const Dag& dag, int id) {
  std::vector<int> result;
  for (std::size_t i = 0; i < dag.nodes.size(); ++i)
    if (std::count(dag.nodes[i].operands.begin(), dag.nodes[i].operands.end(), id) != 0)
      result.push_back(static_cast<int>(i));
  for (const auto& [name, output] : dag.outputs)
    if (output == id) result.push_back(-1);
  return result;
}

// The reduction of `of` that `id` is: its largest, its smallest or its mean along dimensions; -1 when it is none.
int summary(const Dag& dag, int id, int of) {
  const auto reduces = [&](int node, bool sum) {
    const Node& each = dag.at(node);
    return each.is<Reduce>() && each.operands[0] == of && (sum ? each.reduces("sum") : each.reduces("max") || each.reduces("min"));
  };
  if (reduces(id, false)) return id;
  const Node& node = dag.at(id);
  if (!node.computes("div") || !reduces(node.operands[0], true)) return -1;
  // A mean divides by as many as there are.
  const Node& sum = dag.at(node.operands[0]);
  tensor::Extent count = literal(1, dag.at(of).shape[0].values.size());
  for (int dim : sum.as<Reduce>().dims) count = times(count, dag.at(of).shape[static_cast<std::size_t>(dim)]);
  const Node& number = dag.at(node.operands[1]);
  return number.is<Number>() && number.as<Number>().extent == count ? node.operands[0] : -1;
}

bool constant_along(const Dag& dag, int id, const Node& whole, const std::vector<int>& dims) {
  const tensor::Shape& shape = dag.at(id).shape;
  return std::all_of(dims.begin(), dims.end(), [&](int dim) {
    const int own = dim - static_cast<int>(whole.shape.size() - shape.size());
    return own < 0 || is_one(shape[static_cast<std::size_t>(own)]);
  });
}

}  // namespace

bool shift(Dag& dag) {
  return everywhere(dag, [&](int own) {
    const Node minus = dag.at(own);
    if (!minus.computes("sub")) return false;
    const int shifted = minus.operands[0];
    const Node sum = dag.at(shifted);
    if (!sum.computes("add") && !sum.computes("sub")) return false;
    const int reduce_id = summary(dag, minus.operands[1], shifted);
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
      redirect(dag, own, Builder(dag).pointwise("sub", {kept, level}));
      return true;
    }
    return false;
  });
}

}  // namespace cudal1::algebra
