// SPDX-License-Identifier: Apache-2.0
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
  if (!node.is<Pointwise>() || node.operands.size() != 2 || !tensor::is_floating(node.dtype)) return std::nullopt;
  const bool product = node.computes("mul") || node.computes("div");
  if (!product && !node.computes("add") && !node.computes("sub")) return std::nullopt;
  const auto left = build.literal_value(node.operands[0]), right = build.literal_value(node.operands[1]);
  if (right && !left) {
    const double value = node.computes("sub") ? -*right : node.computes("div") ? 1 / *right : *right;
    return Step{node.operands[0], product, value};
  }
  if (left && !right && (node.computes("add") || node.computes("mul"))) return Step{node.operands[1], product, *left};
  return std::nullopt;
}

}  // namespace

// Only numbers that the line itself writes out: sizes, scalars and tensors keep their values for later.
bool constants(Dag& dag) {
  Builder build(dag);
  return everywhere(dag, [&](int id) {
    const auto outer = step_of(build, id);
    if (!outer) return false;
    const auto inner = step_of(build, outer->operand);
    const Node& node = dag.at(id);
    if (!inner || inner->product != outer->product || build.at(outer->operand).dtype != node.dtype ||
        build.at(inner->operand).dtype != node.dtype)
      return false;
    const double value = outer->product ? inner->constant * outer->constant : inner->constant + outer->constant;
    if (!std::isfinite(value) || (outer->product && std::abs(value) < 1e-30)) return false;
    const tensor::Dtype dtype = node.dtype;
    redirect(dag, id,
             build.pointwise(outer->product ? "mul" : "add", {inner->operand, build.number(value, dtype)}));
    return true;
  });
}

}  // namespace cudal1::algebra
