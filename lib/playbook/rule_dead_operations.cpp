// SPDX-License-Identifier: Apache-2.0
#include "playbook/rule.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace cudal1::playbook {
namespace {

struct Range {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};

// What values an operation can have, whatever its inputs are. A NaN passes through every operation concerned.
Range range(const Dag& dag, int id, int depth = 0) {
  const Node& node = dag.nodes[static_cast<std::size_t>(id)];
  if (depth > 32) return {};
  const auto of = [&](std::size_t operand) { return range(dag, node.operands[operand], depth + 1); };
  const std::string& f = node.function;
  if (node.kind == Kind::number) {
    char* end = nullptr;
    const double value = std::strtod(f.c_str(), &end);
    return *end == '\0' ? Range{value, value} : Range{};
  }
  if (node.kind == Kind::reshape || node.kind == Kind::permute) return of(0);
  if (node.kind == Kind::reduce) return f == "max" || f == "min" ? of(0) : Range{};
  if (node.kind != Kind::pointwise) return {};
  if (f == "identity") return of(0);
  if (f == "sigmoid" || f == "hardsigmoid") return {0, 1};
  if (f == "tanh" || f == "erf" || f == "softsign" || f == "sin" || f == "cos") return {-1, 1};
  if (f == "exp" || f == "exp2" || f == "square" || f == "abs" || f == "softplus" || f == "sqrt")
    return {0, std::numeric_limits<double>::infinity()};
  if (f == "relu") return {std::max(0.0, of(0).low), std::max(0.0, of(0).high)};
  if (f == "relu6") return {0, 6};
  if (f == "maximum") return {std::max(of(0).low, of(1).low), std::max(of(0).high, of(1).high)};
  if (f == "minimum") return {std::min(of(0).low, of(1).low), std::min(of(0).high, of(1).high)};
  return {};
}

}  // namespace

bool dead_operations(Dag& dag) {
  bool any = false;
  for (std::size_t i = 0; i < dag.nodes.size(); ++i) {
    const Node& node = dag.nodes[i];
    if (node.kind != Kind::pointwise) continue;
    bool dead = false;
    if (node.function == "relu" || node.function == "abs") dead = range(dag, node.operands[0]).low >= 0;
    if (node.function == "maximum")
      dead = dag.nodes[static_cast<std::size_t>(node.operands[1])].kind == Kind::number &&
             range(dag, node.operands[1]).high <= range(dag, node.operands[0]).low;
    if (node.function == "minimum")
      dead = dag.nodes[static_cast<std::size_t>(node.operands[1])].kind == Kind::number &&
             range(dag, node.operands[1]).low >= range(dag, node.operands[0]).high;
    if (!dead || dag.nodes[static_cast<std::size_t>(node.operands[0])].dtype != node.dtype) continue;
    redirect(dag, static_cast<int>(i), node.operands[0]);
    any = true;
  }
  if (any) dag = tidy(dag);
  return any;
}

}  // namespace cudal1::playbook
