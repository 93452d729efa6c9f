// SPDX-License-Identifier: Apache-2.0
#include "algebra/rule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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

namespace {

// A power of two has a reciprocal without rounding.
bool power_of_two(double value) {
  int exponent = 0;
  return std::isfinite(value) && std::abs(std::frexp(value, &exponent)) == 0.5 && exponent > -100 && exponent < 100;
}

}  // namespace

bool strength(Dag& dag) {
  Builder build(dag);
  return everywhere(dag, [&](int of) {
    const Node node = dag.at(of);
    if (!node.is<Pointwise>() || !tensor::is_floating(node.dtype)) return false;
    int cheaper = -1;
    const auto is = [&](int id, const char* function) {
      return build.at(id).computes(function) && build.at(id).dtype == node.dtype;
    };
    if (node.computes("div")) {
      const int above = node.operands[0], below = node.operands[1];
      const auto divisor = build.literal_value(below);
      if (divisor && power_of_two(*divisor) && build.at(above).dtype == node.dtype)
        cheaper = build.pointwise("mul", {above, build.number(1 / *divisor, node.dtype)});
      else if (is(below, "sqrt") && build.literal_value(above) == 1.0)
        cheaper = build.pointwise("rsqrt", {build.at(below).operands[0]});
      else if (is(below, "sqrt") && build.at(above).dtype == node.dtype)
        cheaper = build.pointwise("mul", {above, build.pointwise("rsqrt", {build.at(below).operands[0]})});
    } else if (node.computes("reciprocal") && is(node.operands[0], "sqrt")) {
      cheaper = build.pointwise("rsqrt", {build.at(node.operands[0]).operands[0]});
    } else if (node.computes("mul") && node.operands[0] == node.operands[1]) {
      // The square of a root; of a negative number both are NaN.
      cheaper = build.pointwise("square", {node.operands[0]});
    }
    if (cheaper < 0 || !(build.at(cheaper).shape == node.shape)) return false;
    redirect(dag, of, cheaper);
    return true;
  });
}

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Range {
  double low = -infinity, high = infinity;
};

// A part of a sum of such: a softmax. Rounding takes it past 1 by a unit in the last place at most.
bool is_share(const Dag& dag, const Node& node) {
  if (!node.computes("div") && !node.computes("mul")) return false;
  const Node* total = &dag.at(node.operands[1]);
  if (node.computes("mul") && total->computes("reciprocal")) total = &dag.at(total->operands[0]);
  else if (node.computes("mul")) return false;
  return total->reduces("sum") && total->operands[0] == node.operands[0];
}

// What the function makes of its operand without its sign, or of its own result, it makes of the operand.
bool forgets_sign(const std::string& function) { return function == "abs" || function == "square" || function == "cos" || function == "cosh"; }
bool idempotent(const std::string& function) {
  return function == "floor" || function == "ceil" || function == "round" || function == "trunc" || function == "sign";
}

// What values an operation can have, whatever its inputs are. A NaN passes through every operation concerned.
Range range(const Dag& dag, int id, int depth = 0) {
  const Node& node = dag.at(id);
  if (depth > 32) return {};
  const auto of = [&](std::size_t operand) { return range(dag, node.operands[operand], depth + 1); };
  const std::string& f = node.function();
  if (node.is<Number>()) {
    char* end = nullptr;
    const double value = std::strtod(node.as<Number>().text.c_str(), &end);
    return *end == '\0' ? Range{value, value} : Range{};
  }
  if (node.is<Reshape>() || node.is<Permute>()) return of(0);
  if (node.is<Reduce>() && (f == "sum" || f == "prod")) return of(0).low >= 0 ? Range{0, infinity} : Range{};
  if (node.is<Reduce>()) return f == "max" || f == "min" ? of(0) : Range{};
  if (!node.is<Pointwise>()) return {};
  if (f == "identity") return of(0);
  if (is_share(dag, node) && of(0).low >= 0) return {0, 1};
  if (f == "sigmoid" || f == "hardsigmoid") return {0, 1};
  if (f == "tanh" || f == "erf" || f == "softsign" || f == "sin" || f == "cos") return {-1, 1};
  if (f == "exp" || f == "exp2" || f == "square" || f == "abs" || f == "softplus" || f == "sqrt" || f == "rsqrt")
    return {0, infinity};
  if (f == "neg") return {-of(0).high, -of(0).low};
  if (f == "leaky_relu" || f == "elu" || f == "celu") return of(0).low >= 0 ? of(0) : Range{};
  if (f == "add") return {of(0).low + of(1).low, of(0).high + of(1).high};
  if ((f == "mul" || f == "div") && of(0).low >= 0 && of(1).low >= 0) return {0, infinity};
  if (f == "where") return {std::min(of(1).low, of(2).low), std::max(of(1).high, of(2).high)};
  if (f == "relu") return {std::max(0.0, of(0).low), std::max(0.0, of(0).high)};
  if (f == "relu6") return {0, 6};
  if (f == "maximum") return {std::max(of(0).low, of(1).low), std::max(of(0).high, of(1).high)};
  if (f == "minimum") return {std::min(of(0).low, of(1).low), std::min(of(0).high, of(1).high)};
  return {};
}

}  // namespace

bool dead_operations(Dag& dag) {
  return everywhere(dag, [&](int id) {
    const Node& node = dag.at(id);
    if (!node.is<Pointwise>()) return false;
    const Node& inner = dag.at(node.operands[0]);
    if (inner.is<Pointwise>() && inner.dtype == node.dtype) {
      const bool both_signs = node.computes("neg") && inner.computes("neg");
      const bool lost_sign = forgets_sign(node.function()) && (inner.computes("neg") || inner.computes("abs"));
      if (both_signs) redirect(dag, id, inner.operands[0]);
      if (lost_sign) dag.at(id).operands[0] = inner.operands[0];
      if (both_signs || lost_sign) return true;
    }
    bool dead = inner.is<Pointwise>() && inner.function() == node.function() && idempotent(node.function());
    if (node.computes("relu") || node.computes("abs") || node.computes("leaky_relu") || node.computes("elu") || node.computes("celu"))
      dead = range(dag, node.operands[0]).low >= 0;
    if (node.computes("maximum"))
      dead = dag.at(node.operands[1]).is<Number>() &&
             range(dag, node.operands[1]).high <= range(dag, node.operands[0]).low;
    if (node.computes("minimum"))
      dead = dag.at(node.operands[1]).is<Number>() &&
             range(dag, node.operands[1]).low >= range(dag, node.operands[0]).high;
    if (!dead || dag.at(node.operands[0]).dtype != node.dtype) return false;
    redirect(dag, id, node.operands[0]);
    return true;
  });
}

}  // namespace cudal1::algebra
