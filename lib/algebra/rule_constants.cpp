// SPDX-License-Identifier: Apache-2.0
#include "algebra/builder.hpp"
#include "algebra/rule.hpp"

#include <cmath>
#include <optional>

namespace cudal1::algebra {
namespace {

// x op c as (operand, constant), whichever side the constant stands on; sub and div count as add of -c and mul of 1 / c.
struct Step {
  int operand;
  bool product;
  double constant;
};
std::optional<Step> step_of(const Builder& build, int id) {
  const Node& node = build.at(id);
  if (node.kind != Kind::pointwise || node.operands.size() != 2 || !tensor::is_floating(node.dtype)) return std::nullopt;
  const bool product = node.function == "mul" || node.function == "div";
  if (!product && node.function != "add" && node.function != "sub") return std::nullopt;
  const auto left = build.literal_value(node.operands[0]), right = build.literal_value(node.operands[1]);
  if (right && !left) {
    const double value = node.function == "sub" ? -*right : node.function == "div" ? 1 / *right : *right;
    return Step{node.operands[0], product, value};
  }
  if (left && !right && (node.function == "add" || node.function == "mul")) return Step{node.operands[1], product, *left};
  return std::nullopt;
}

}  // namespace

// Only numbers that the line itself writes out: sizes, scalars and tensors keep their values for later.
bool constants(Dag& dag) {
  bool any = false;
  for (std::size_t i = 0; i < dag.nodes.size(); ++i) {
    Builder build(dag);
    const auto outer = step_of(build, static_cast<int>(i));
    if (!outer) continue;
    const auto inner = step_of(build, outer->operand);
    const Node& node = dag.nodes[i];
    if (!inner || inner->product != outer->product || build.at(outer->operand).dtype != node.dtype ||
        build.at(inner->operand).dtype != node.dtype)
      continue;
    const double value = outer->product ? inner->constant * outer->constant : inner->constant + outer->constant;
    if (!std::isfinite(value) || (outer->product && std::abs(value) < 1e-30)) continue;
    const tensor::Dtype dtype = node.dtype;
    redirect(dag, static_cast<int>(i),
             build.pointwise(outer->product ? "mul" : "add", {inner->operand, build.number(value, dtype)}));
    any = true;
  }
  if (any) dag = tidy(dag);
  return any;
}

}  // namespace cudal1::algebra
