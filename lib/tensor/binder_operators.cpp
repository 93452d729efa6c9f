// SPDX-License-Identifier: Apache-2.0
#include "tensor/binder.hpp"
#include "tensor/quantity.hpp"

#include <cmath>

#include <fmt/format.h>

namespace cudal1::tensor {
namespace {

using Kind = Value::Kind;

struct Operator {
  std::string_view sign, function;
  int binding;
};
constexpr Operator operators[] = {
    {"+", "add", 1},  {"-", "sub", 1}, {"*", "mul", 2},         {"/", "div", 2},         {"//", "floor_divide", 2}, {"%", "remainder", 2},
    {"**", "pow", 4}, {"@", "matmul", 0}, {"==", "eq", 0},      {"!=", "ne", 0},         {"<", "lt", 0},            {"<=", "le", 0},
    {">", "gt", 0},   {">=", "ge", 0}, {"&", "bitwise_and", 0}, {"|", "bitwise_or", 0}, {"^", "bitwise_xor", 0}};

const Operator* find_operator(std::string_view sign) {
  for (const Operator& each : operators)
    if (each.sign == sign) return &each;
  return nullptr;
}

int binding_of(const Value& value) {
  if (!value.literal()) return value.binding;
  const Number number = number_of(value.number);
  return std::signbit(number.value) && !std::isinf(number.value) ? 3 : 5;
}

std::string scalar_text(const Value& value, int needed) {
  const std::string text = python_text(value.number);
  return binding_of(value) < needed ? "(" + text + ")" : text;
}

}  // namespace

Value Binder::unary(const std::string& sign, const Value& operand) {
  bool truth = false;
  if (sign == "not") {
    if (!truth_of(operand, truth)) fail("\"not\" needs a value that is known; use ~ on tensors");
    Value value;
    value.kind = Kind::scalar;
    value.number = !truth;
    return value;
  }
  if (sign == "*") fail("a starred value stands outside a call");
  if (operand.is(Kind::scalar) && sign != "~") {
    if (operand.literal()) return literal(sign == "-" ? arithmetic("neg", number_of(operand.number)) : number_of(operand.number));
    return sign == "-" ? size_text("-" + scalar_text(operand, 3), 3) : operand;
  }
  if (sign == "+") return tensor(node_of(operand));
  return tensor(add(sign == "-" ? "neg" : "bitwise_not", {node_of(operand)}, {}));
}

Value Binder::binary(const std::string& sign, const Value& left, const Value& right) {
  const Operator* known = find_operator(sign);
  Value truth;
  truth.kind = Kind::scalar;
  const bool same_none = left.is(Kind::none) == right.is(Kind::none);
  if (sign == "is" || sign == "is not") {
    if (!left.is(Kind::none) && !right.is(Kind::none)) fail("\"is\" compares with None only");
    truth.number = same_none == (sign == "is");
    return truth;
  }
  const bool words = left.is(Kind::word) || right.is(Kind::word) || left.is(Kind::none) || right.is(Kind::none);
  if ((sign == "==" || sign == "!=") && words) {
    truth.number = (left.kind == right.kind && left.text == right.text) == (sign == "==");
    return truth;
  }
  if (left.is(Kind::scalar) && right.is(Kind::scalar) && known != nullptr && known->binding > 0) {
    if (left.literal() && right.literal()) return literal(arithmetic(sign, number_of(left.number), number_of(right.number)));
    const int binding = known->binding;
    const std::string a = scalar_text(left, sign == "**" ? 5 : binding), b = scalar_text(right, sign == "**" ? 3 : binding + 1);
    return size_text(fmt::format("{} {} {}", a, sign, b), binding);
  }
  if (left.literal() && right.literal() && known != nullptr) {
    const double a = number_of(left.number).value, b = number_of(right.number).value;
    if (sign == "==") return truth.number = a == b, truth;
    if (sign == "!=") return truth.number = a != b, truth;
    if (sign == "<") return truth.number = a < b, truth;
    if (sign == "<=") return truth.number = a <= b, truth;
    if (sign == ">") return truth.number = a > b, truth;
    if (sign == ">=") return truth.number = a >= b, truth;
  }
  if (sign == "+" && left.is(Kind::list) && right.is(Kind::list)) {
    std::vector<Value> items = left.items;
    items.insert(items.end(), right.items.begin(), right.items.end());
    return list(std::move(items));
  }
  if (known == nullptr) fail(fmt::format("the operator \"{}\" is not known", sign));
  const NodeId a = node_of(left), b = node_of(right);
  return tensor(add(std::string(known->function), {a, b}, {}));
}

}  // namespace cudal1::tensor
