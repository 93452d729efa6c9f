// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/directive_lexer.hpp"
#include "kernel/expression.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cudal1::kernel {

// One node of a parsed expression; read by the evaluator, the launch plan and the C++ printer.
struct Expression::Node {
  enum class Kind { integer, real, boolean, name, negate, logical_not, binary, conditional, call };
  using Pointer = std::shared_ptr<const Node>;

  Kind kind = Kind::integer;
  std::int64_t integer = 0;  // of integer and boolean
  double real = 0;
  std::string text;          // a name, a binary operator, or a function's name
  std::vector<Pointer> children;
  int depth = 1;
  std::shared_ptr<const std::string> file;  // never null
  int line = 0, column = 0;
};

// How tightly a node binds when printed: 0 for ?:, 1 to 6 for binary operators, 7 for unary ones, 8 for the rest.
int precedence(const Expression::Node& node);
int precedence(const std::string& binary_operator);

// Reads one expression from the stream and stops at the first token that cannot go on with it. Throws Complaint.
Expression parse_expression(TokenStream& stream);

// Evaluates; throws Complaint.
Value evaluate_node(const Expression::Node& node, const Environment& environment);

// A literal as the expression language and C++ write it: 0.5, 1e-05, 3.0.
std::string real_text(double value);

// The functions an expression knows.
const std::vector<std::string>& function_names();

}  // namespace cudal1::kernel
