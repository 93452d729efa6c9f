// SPDX-License-Identifier: Apache-2.0
#include "algebra/rule.hpp"

#include <algorithm>
#include <functional>

namespace cudal1::algebra {

const std::vector<Rule>& rules() {
  static const std::vector<Rule> list = {
      {"diagonal", "diag(a) @ B = a[:, None] * B, B @ diag(a) = B * a, and (c * eye) @ B = c * B", diagonal},
      {"one-hot", "one_hot(i) @ B = B[i], and A @ one_hot(i).T = A[:, i]", one_hot},
      {"symmetric", "the transpose of a symmetric matrix is itself", symmetric},
      {"linear sums", "a sum over the results of a linear operator is the operator on sums", linear_sums},
      {"chain order", "(A @ B) @ C = A @ (B @ C), also where C is a vector", chain_order},
      {"transposed product", "(A @ B).T = B.T @ A.T", transposed_product},
      {"triangular", "a product with a triangular matrix has no terms beyond its diagonal, and one of two such is one already", triangular},
      {"reversed scan", "a scan of a turned tensor, turned back, is a scan from the end", reversed_scan},
      {"shift", "(x + c) - max(x + c) = x - max(x), with the smallest and the mean as well", shift},
      {"constants", "(x * a) * b = x * (a * b), and (x + a) + b = x + (a + b)", constants},
      {"strength", "x / 2 = x * 0.5, and x / sqrt(y) = x * rsqrt(y)", strength},
      {"dead operations", "clamps that cannot bind, activations applied twice and signs that do not count change nothing", dead_operations},
  };
  return list;
}

std::optional<Selection> selection(const Builder& build, int id) {
  const Node& node = build.at(id);
  if (!node.computes("where") || build.literal_value(node.operands[2]) != 0.0) return std::nullopt;
  const Node& on = build.at(node.operands[0]);
  if (!on.is<Pointwise>() || on.operands.size() != 2) return std::nullopt;
  return Selection{on.function(), on.operands[0], on.operands[1], node.operands[1]};
}

bool constant_along(const Dag& dag, int id, const Node& whole, const std::vector<int>& dims) {
  const tensor::Shape& shape = dag.at(id).shape;
  return std::all_of(dims.begin(), dims.end(), [&](int dim) {
    const int own = dim - static_cast<int>(whole.shape.size() - shape.size());
    return own < 0 || is_one(shape[static_cast<std::size_t>(own)]);
  });
}

std::vector<int> users(const Dag& dag, int id) {
  std::vector<int> result;
  for (std::size_t i = 0; i < dag.nodes.size(); ++i)
    for (int operand : dag.nodes[i].operands)
      if (operand == id) result.push_back(static_cast<int>(i));
  for (const auto& [name, output] : dag.outputs)
    if (output == id) result.push_back(-1);
  return result;
}

void redirect(Dag& dag, int from, int to) {
  for (std::size_t i = 0; i < dag.nodes.size(); ++i) {
    if (static_cast<int>(i) == to) continue;
    for (int& operand : dag.nodes[i].operands)
      if (operand == from) operand = to;
  }
  for (auto& [name, id] : dag.outputs)
    if (id == from) id = to;
}

Dag tidy(const Dag& dag) {
  Dag result;
  std::vector<int> place(dag.nodes.size(), -1);
  const std::function<int(int)> visit = [&](int id) {
    int& at = place[static_cast<std::size_t>(id)];
    if (at >= 0) return at;
    Node node = dag.at(id);
    for (int& operand : node.operands) operand = visit(operand);
    return place[static_cast<std::size_t>(id)] = result.add(std::move(node));
  };
  for (const auto& [name, id] : dag.outputs) result.outputs.emplace_back(name, visit(id));
  return result;
}

}  // namespace cudal1::algebra
