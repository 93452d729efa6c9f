// SPDX-License-Identifier: Apache-2.0
#include "playbook/families.hpp"
#include "playbook/lowering.hpp"

namespace cudal1::playbook {
namespace {

int first(Lowering& l) { return l.operand("input"); }

int leaky_relu(Lowering& l) {
  return l.pointwise("leaky_relu", {first(l), l.literal_number(l.number("negative_slope"))});
}
int elu(Lowering& l) { return l.pointwise("elu", {first(l), l.literal_number(l.number("alpha"))}); }
int softshrink(Lowering& l) { return l.pointwise("softshrink", {first(l), l.literal_number(l.number("lambd"))}); }
int hardshrink(Lowering& l) { return l.pointwise("hardshrink", {first(l), l.literal_number(l.number("lambd"))}); }
int gelu(Lowering& l) { return l.pointwise(l.word("approximate") == "tanh" ? "gelu_tanh" : "gelu", {first(l)}); }
int softplus(Lowering& l) {
  return l.pointwise("softplus",
                     {first(l), l.literal_number(l.number("beta")), l.literal_number(l.number("threshold"))});
}
int selu(Lowering& l) {
  const int inner = l.pointwise("elu", {first(l), l.literal_number(1.6732632423543772848)});
  return l.pointwise("mul", {inner, l.literal_number(1.0507009873554804935)});
}
int tanhshrink(Lowering& l) { return l.pointwise("sub", {first(l), l.pointwise("tanh", {first(l)})}); }

int between(Lowering& l, const char* low, const char* high) {
  int value = first(l);
  if (l.given(low)) value = l.pointwise("maximum", {value, l.literal_number(l.number(low))});
  if (l.given(high)) value = l.pointwise("minimum", {value, l.literal_number(l.number(high))});
  return value;
}
int clamp(Lowering& l) { return between(l, "min", "max"); }
int hardtanh(Lowering& l) { return between(l, "min_val", "max_val"); }

// Small whole exponents become products: exact where pow is not, and far cheaper.
int power(Lowering& l) {
  const int base = first(l), exponent = l.operand("exponent");
  const Node& number = l.at(exponent);
  if (number.kind == Kind::number) {
    if (number.function == "2") return l.pointwise("square", {base});
    if (number.function == "3") return l.pointwise("mul", {l.pointwise("square", {base}), base});
    if (number.function == "0.5") return l.pointwise("sqrt", {base});
    if (number.function == "-0.5") return l.pointwise("rsqrt", {base});
    if (number.function == "-1") return l.pointwise("reciprocal", {base});
  }
  return l.pointwise("pow", {base, exponent}, l.type().dtype);
}

int cast(Lowering& l) {
  if (l.at(first(l)).dtype == l.type().dtype) return first(l);
  return l.pointwise("identity", {first(l)}, l.type().dtype);
}

}  // namespace

std::vector<LoweringRow> pointwise_lowerings() {
  return {{"leaky_relu", leaky_relu},
          {"elu", elu},
          {"softshrink", softshrink},
          {"hardshrink", hardshrink},
          {"gelu", gelu},
          {"softplus", softplus},
          {"selu", selu},
          {"tanhshrink", tanhshrink},
          {"clamp", clamp},
          {"hardtanh", hardtanh},
          {"pow", power},
          {"cast", cast}};
}

}  // namespace cudal1::playbook
