// SPDX-License-Identifier: Apache-2.0
#include "algebra/lowering.hpp"

namespace cudal1::algebra {
namespace {

int first(Lowering& l) { return l.operand("input"); }

int leaky_relu(Lowering& l) {
  return l.pointwise("leaky_relu", {first(l), l.literal_number(l.number("negative_slope"))});
}
int elu(Lowering& l) { return l.pointwise("elu", {first(l), l.literal_number(l.number("alpha"))}); }
int celu(Lowering& l) { return l.pointwise("celu", {first(l), l.literal_number(l.number("alpha"))}); }
int threshold(Lowering& l) {
  return l.pointwise("threshold", {first(l), l.literal_number(l.number("threshold")), l.literal_number(l.number("value"))});
}
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

// One weight, or one for each channel.
int prelu(Lowering& l) {
  int weight = l.operand("weight");
  const tensor::Shape shape = l.at(first(l)).shape;
  if (shape.size() > 2 && l.at(weight).shape.size() == 1) {
    tensor::Shape of_channel = l.at(weight).shape;
    of_channel.resize(shape.size() - 1, literal(1, l.assignments()));
    weight = l.reshape(weight, of_channel);
  }
  return l.reshape(l.pointwise("leaky_relu", {first(l), weight}, l.type().dtype), l.type().shape);
}

int glu(Lowering& l) {
  const auto dim = static_cast<std::size_t>(l.axes("dim", l.type().shape.size()).at(0));
  const tensor::Extent half = l.type().shape[dim];
  const int gate = l.slice(first(l), dim, half, half);
  return l.pointwise("mul", {l.slice(first(l), dim, literal(0, l.assignments()), half), l.pointwise("sigmoid", {gate})});
}

int lerp(Lowering& l) {
  const int distance = l.pointwise("sub", {l.operand("end"), first(l)}, l.type().dtype);
  return l.pointwise("add", {first(l), l.pointwise("mul", {l.operand("weight"), distance}, l.type().dtype)}, l.type().dtype);
}

// Of integers C has operators where real numbers have functions.
int quotient(Lowering& l, const std::string& function) {
  return l.pointwise(tensor::is_floating(l.type().dtype) ? function : function + " of integers", {first(l), l.operand("other")}, l.type().dtype);
}
int fmod(Lowering& l) { return quotient(l, "fmod"); }
int remainder(Lowering& l) { return quotient(l, "remainder"); }
int floor_divide(Lowering& l) { return quotient(l, "floor_divide"); }

int bitwise_not(Lowering& l) { return l.pointwise(l.type().dtype == tensor::Dtype::bool_ ? "logical_not" : "bitwise_not", {first(l)}, l.type().dtype); }

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
  if (number.is<Number>()) {
    if (number.as<Number>().text == "2") return l.pointwise("square", {base});
    if (number.as<Number>().text == "3") return l.pointwise("mul", {l.pointwise("square", {base}), base});
    if (number.as<Number>().text == "0.5") return l.pointwise("sqrt", {base});
    if (number.as<Number>().text == "-0.5") return l.pointwise("rsqrt", {base});
    if (number.as<Number>().text == "-1") return l.pointwise("reciprocal", {base});
  }
  return l.pointwise("pow", {base, exponent}, l.type().dtype);
}

int cast(Lowering& l) {
  return l.as(first(l), l.type().dtype);
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
          {"celu", celu},
          {"threshold", threshold},
          {"prelu", prelu},
          {"glu", glu},
          {"lerp", lerp},
          {"fmod", fmod},
          {"remainder", remainder},
          {"floor_divide", floor_divide},
          {"bitwise_not", bitwise_not},
          {"tanhshrink", tanhshrink},
          {"clamp", clamp},
          {"hardtanh", hardtanh},
          {"pow", power},
          {"cast", cast}};
}

}  // namespace cudal1::algebra
