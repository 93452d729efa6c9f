// SPDX-License-Identifier: Apache-2.0
#include "algebra/rule.hpp"

#include <cmath>

namespace cudal1::algebra {
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

}  // namespace cudal1::algebra
