// SPDX-License-Identifier: Apache-2.0
// Functions of single elements that are more than a row of pointwise.cpp.
#include "algebra/lowering.hpp"

namespace cudal1::algebra {
namespace {

int selu(Lowering& l) {
  const int inner = l.pointwise("elu", {l.input(), l.literal_number(1.6732632423543772848)});
  return l.pointwise("mul", {inner, l.literal_number(1.0507009873554804935)});
}

// One weight, or one for each channel.
int prelu(Lowering& l) {
  int weight = l.operand("weight");
  const std::size_t rank = l.at(l.input()).shape.size();
  if (rank > 2 && l.at(weight).shape.size() == 1) weight = l.behind(weight, rank - 1);
  return l.reshape(l.pointwise("leaky_relu", {l.input(), weight}, l.type().dtype), l.type().shape);
}

int glu(Lowering& l) {
  const std::size_t dim = l.axis(l.type().shape.size());
  const tensor::Extent half = l.type().shape[dim];
  const int gate = l.slice(l.input(), dim, half, half);
  return l.pointwise("mul", {l.slice(l.input(), dim, literal(0, l.assignments()), half), l.pointwise("sigmoid", {gate})});
}

int lerp(Lowering& l) {
  const int distance = l.pointwise("sub", {l.operand("end"), l.input()}, l.type().dtype);
  return l.pointwise("add", {l.input(), l.pointwise("mul", {l.operand("weight"), distance}, l.type().dtype)}, l.type().dtype);
}

// Of integers C has operators where real numbers have functions.
int quotient(Lowering& l) {
  const std::string& function = l.source().function;
  return l.pointwise(tensor::is_floating(l.type().dtype) ? function : function + " of integers", {l.input(), l.operand("other")}, l.type().dtype);
}

int between(Lowering& l, const char* low, const char* high) {
  int value = l.input();
  if (l.given(low)) value = l.pointwise("maximum", {value, l.given_number(low)});
  if (l.given(high)) value = l.pointwise("minimum", {value, l.given_number(high)});
  return value;
}

// Small whole exponents become products: exact where pow is not, and far cheaper.
int power(Lowering& l) {
  const int base = l.input(), exponent = l.operand("exponent");
  const std::string text = l.at(exponent).is<Number>() ? l.at(exponent).as<Number>().text : "";
  if (text == "2") return l.pointwise("square", {base});
  if (text == "3") return l.pointwise("mul", {l.pointwise("square", {base}), base});
  if (text == "0.5") return l.pointwise("sqrt", {base});
  if (text == "-0.5") return l.pointwise("rsqrt", {base});
  if (text == "-1") return l.pointwise("reciprocal", {base});
  return l.pointwise("pow", {base, exponent}, l.type().dtype);
}

}  // namespace

std::vector<LoweringRow> pointwise_lowerings() {
  return {
      {"gelu", [](Lowering& l) { return l.pointwise(l.word("approximate") == "tanh" ? "gelu_tanh" : "gelu", {l.input()}); }},
      {"bitwise_not", [](Lowering& l) { return l.pointwise(l.type().dtype == tensor::Dtype::bool_ ? "logical_not" : "bitwise_not", {l.input()}, l.type().dtype); }},
      {"tanhshrink", [](Lowering& l) { return l.pointwise("sub", {l.input(), l.pointwise("tanh", {l.input()})}); }},
      {"clamp", [](Lowering& l) { return between(l, "min", "max"); }},
      {"hardtanh", [](Lowering& l) { return between(l, "min_val", "max_val"); }},
      {"cast", [](Lowering& l) { return l.as(l.input(), l.type().dtype); }},
      {"selu", selu},
      {"prelu", prelu},
      {"glu", glu},
      {"lerp", lerp},
      {"fmod", quotient},
      {"remainder", quotient},
      {"floor_divide", quotient},
      {"pow", power},
  };
}

}  // namespace cudal1::algebra
