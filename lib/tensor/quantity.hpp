// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/shape.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::tensor {

// Why an operation cannot be: leaves infer and evaluate as a diagnostic, never as an exception.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// An integer or a real, as Python tells them apart.
struct Number {
  bool real = false;
  std::int64_t integer = 0;
  double value = 0;  // of either kind

  static Number of(std::int64_t i) { return {false, i, static_cast<double>(i)}; }
  static Number of_real(double d) { return {true, 0, d}; }
};

// Python's arithmetic on two numbers: + - * / // % ** min max. Throws Refusal on overflow and on division by zero.
Number arithmetic(std::string_view sign, const Number& a, const Number& b);
// neg, and the functions of `math`: sqrt exp log log2 floor ceil; abs, int, float, round.
Number arithmetic(std::string_view function, const Number& a);
bool is_unary(std::string_view function);

// A number written in sizes: a C expression and its value at each assignment.
struct Quantity {
  std::string text;
  std::vector<Number> values;

  static Quantity of(std::int64_t value, std::size_t assignments);
  static Quantity of(const Extent& extent);
  Extent extent() const;  // throws Refusal when a value is no integer
};
Quantity operator+(const Quantity& a, const Quantity& b);
Quantity operator-(const Quantity& a, const Quantity& b);
Quantity operator*(const Quantity& a, const Quantity& b);
Quantity operator/(const Quantity& a, const Quantity& b);  // rounds down, as sizes do
Quantity ceil_div(const Quantity& a, const Quantity& b);
Quantity minimum(const Quantity& a, const Quantity& b);
Quantity maximum(const Quantity& a, const Quantity& b);

// What names in a size text mean.
struct Names {
  std::size_t assignments = 1;
  std::function<Quantity(const std::string& name)> name;             // throws Refusal when it is not known
  std::function<const Shape&(NodeId node)> shape;
};

// One number, or a list of them ("(N, 3)", "$0.shape[1:]").
struct Quantities {
  bool list = false;
  std::vector<Quantity> items;
};
Quantities read_size_text(std::string_view text, const Names& names);

}  // namespace cudal1::tensor
