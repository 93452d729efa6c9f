// SPDX-License-Identifier: Apache-2.0
#include "kernel/expression.hpp"

#include "base/text.hpp"
#include "kernel/complaint.hpp"
#include "kernel/expression_node.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

using Node = Expression::Node;
using Kind = Node::Kind;

[[noreturn]] void fail(const Node& node, std::string message, std::string hint = {}) {
  complain(*node.file, node.line, node.column, std::move(message), std::move(hint));
}

bool is_real(const Value& value) { return std::holds_alternative<double>(value); }
double as_real(const Value& value) {
  return std::visit([](auto v) { return static_cast<double>(v); }, value);
}
std::int64_t as_integer(const Value& value) {
  return std::holds_alternative<bool>(value) ? std::get<bool>(value) : std::get<std::int64_t>(value);
}
bool truth(const Value& value) {
  return std::visit([](auto v) { return v != decltype(v){}; }, value);
}

std::int64_t divide(const Node& node, std::int64_t a, std::int64_t b) {
  if (b == 0) fail(node, fmt::format("division by zero: `{}` is 0", Expression(node.children[1]).text()));
  if (a == std::numeric_limits<std::int64_t>::min() && b == -1) fail(node, "the result does not fit into 64 bits");
  return a / b;
}

Value integer_arithmetic(const Node& node, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  bool overflow = false;
  switch (node.text.front()) {
    case '+': overflow = __builtin_add_overflow(a, b, &result); break;
    case '-': overflow = __builtin_sub_overflow(a, b, &result); break;
    case '*': overflow = __builtin_mul_overflow(a, b, &result); break;
    case '/': result = divide(node, a, b); break;
    default: result = a - divide(node, a, b) * b; break;
  }
  if (overflow) fail(node, fmt::format("{} {} {} does not fit into 64 bits", a, node.text, b));
  return result;
}

Value real_arithmetic(const Node& node, double a, double b) {
  double result = 0;
  switch (node.text.front()) {
    case '+': result = a + b; break;
    case '-': result = a - b; break;
    case '*': result = a * b; break;
    case '/':
      if (b == 0) fail(node, fmt::format("division by zero: `{}` is 0", Expression(node.children[1]).text()));
      result = a / b;
      break;
    default: fail(node, "`%` needs integers");
  }
  if (!std::isfinite(result)) fail(node, "the result does not fit into a double");
  return result;
}

template <typename T>
bool compare(const std::string& symbol, T a, T b) {
  if (symbol == "<") return a < b;
  if (symbol == "<=") return a <= b;
  if (symbol == ">") return a > b;
  if (symbol == ">=") return a >= b;
  if (symbol == "==") return a == b;
  return a != b;
}

Value evaluate_binary(const Node& node, const Environment& environment) {
  const Value left = evaluate_node(*node.children[0], environment);
  if (node.text == "&&") return truth(left) && truth(evaluate_node(*node.children[1], environment));
  if (node.text == "||") return truth(left) || truth(evaluate_node(*node.children[1], environment));
  const Value right = evaluate_node(*node.children[1], environment);
  const bool real = is_real(left) || is_real(right);
  if (precedence(node.text) <= 4)
    return real ? compare(node.text, as_real(left), as_real(right)) : compare(node.text, as_integer(left), as_integer(right));
  return real ? real_arithmetic(node, as_real(left), as_real(right))
              : integer_arithmetic(node, as_integer(left), as_integer(right));
}

Value evaluate_call(const Node& node, const Environment& environment) {
  if (node.text == "tensor_map") fail(node, "tensor_map stands only as a whole argument of a launch");
  std::vector<Value> values;
  for (const auto& child : node.children) values.push_back(evaluate_node(*child, environment));
  if (node.text == "sqrt") {
    if (as_real(values[0]) < 0) fail(node, fmt::format("sqrt of a negative number, {}", as_real(values[0])));
    return std::sqrt(as_real(values[0]));
  }
  if (node.text == "ceil_div") {
    if (is_real(values[0]) || is_real(values[1])) fail(node, "ceil_div needs integers");
    const std::int64_t a = as_integer(values[0]), b = as_integer(values[1]);
    const std::int64_t quotient = divide(node, a, b);
    return a % b != 0 && (a < 0) == (b < 0) ? quotient + 1 : quotient;
  }
  const bool real = std::any_of(values.begin(), values.end(), is_real);
  Value best = real ? Value(as_real(values[0])) : Value(as_integer(values[0]));
  for (const Value& value : values) {
    if (real)
      best = node.text == "min" ? std::min(as_real(best), as_real(value)) : std::max(as_real(best), as_real(value));
    else
      best = node.text == "min" ? std::min(as_integer(best), as_integer(value)) : std::max(as_integer(best), as_integer(value));
  }
  return best;
}

Value look_up(const Node& node, const Environment& environment) {
  const auto found = environment.find(node.text);
  if (found != environment.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [name, value] : environment) known.push_back(name);
  const auto near = base::nearest(node.text, known);
  fail(node, fmt::format("unknown name `{}`", node.text), near ? fmt::format("did you mean `{}`?", *near) : "");
}

void collect_names(const Node& node, std::vector<std::string>& names) {
  if (node.kind == Kind::name && std::find(names.begin(), names.end(), node.text) == names.end()) names.push_back(node.text);
  if (node.kind == Kind::call && node.text == "type") return;  // of a tensor map: a word
  for (const auto& child : node.children) collect_names(*child, names);
}

void print(const Node& node, std::string& out);

void print_operand(const Node& node, bool parenthesise, std::string& out) {
  if (parenthesise) out += '(';
  print(node, out);
  if (parenthesise) out += ')';
}

void print(const Node& node, std::string& out) {
  switch (node.kind) {
    case Kind::integer: out += fmt::format("{}", node.integer); break;
    case Kind::real: out += real_text(node.real); break;
    case Kind::boolean: out += node.integer ? "true" : "false"; break;
    case Kind::name: out += node.text; break;
    case Kind::negate:
    case Kind::logical_not:
      out += node.text;
      // An operand that itself begins with a sign, or a literal that would swallow it, keeps its parentheses.
      print_operand(*node.children[0], precedence(*node.children[0]) < 8 || node.children[0]->kind == Kind::integer, out);
      break;
    case Kind::binary: {
      const int level = precedence(node);
      print_operand(*node.children[0], precedence(*node.children[0]) < level, out);
      out += fmt::format(" {} ", node.text);
      print_operand(*node.children[1], precedence(*node.children[1]) <= level, out);
      break;
    }
    case Kind::conditional:
      print_operand(*node.children[0], precedence(*node.children[0]) == 0, out);
      out += " ? ";
      print(*node.children[1], out);
      out += " : ";
      print(*node.children[2], out);
      break;
    case Kind::call:
      out += node.text;
      out += '(';
      for (std::size_t i = 0; i < node.children.size(); ++i) {
        if (i) out += ", ";
        print(*node.children[i], out);
      }
      out += ')';
      break;
  }
}

}  // namespace

int precedence(const Node& node) {
  switch (node.kind) {
    case Kind::conditional: return 0;
    case Kind::binary: return precedence(node.text);
    case Kind::negate:
    case Kind::logical_not: return 7;
    case Kind::integer: return node.integer < 0 ? 7 : 8;
    default: return 8;
  }
}

std::string real_text(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

Value evaluate_node(const Node& node, const Environment& environment) {
  switch (node.kind) {
    case Kind::integer: return node.integer;
    case Kind::real: return node.real;
    case Kind::boolean: return node.integer != 0;
    case Kind::name: return look_up(node, environment);
    case Kind::logical_not: return !truth(evaluate_node(*node.children[0], environment));
    case Kind::negate: {
      const Value value = evaluate_node(*node.children[0], environment);
      if (is_real(value)) return -std::get<double>(value);
      std::int64_t result = 0;
      if (__builtin_sub_overflow(std::int64_t{0}, as_integer(value), &result)) fail(node, "the result does not fit into 64 bits");
      return result;
    }
    case Kind::binary: return evaluate_binary(node, environment);
    case Kind::conditional:
      return evaluate_node(*node.children[truth(evaluate_node(*node.children[0], environment)) ? 1 : 2], environment);
    case Kind::call: return evaluate_call(node, environment);
  }
  return std::int64_t{0};
}

tl::expected<Expression, base::Diagnostic> Expression::parse(std::string_view text, const std::string& file, int line, int column) {
  try {
    TokenStream stream(lex_directive(text, file, line, column), file, line, column + static_cast<int>(text.size()));
    Expression expression = parse_expression(stream);
    if (!stream.at_end()) stream.fail(fmt::format("expected the end of the expression, found {}", describe(stream.peek())));
    return expression;
  } catch (Complaint& complaint) {
    // The caret needs the text at its own column.
    complaint.diagnostic.line_text = std::string(static_cast<std::size_t>(std::max(column, 1) - 1), ' ') + std::string(text);
    return tl::unexpected(std::move(complaint.diagnostic));
  }
}

Expression Expression::literal(std::int64_t value) {
  auto node = std::make_shared<Node>();
  node->integer = value;
  node->file = std::make_shared<const std::string>();
  return Expression(std::move(node));
}

tl::expected<Value, base::Diagnostic> Expression::evaluate(const Environment& environment) const {
  if (!root_) return Value(std::int64_t{0});
  try {
    return evaluate_node(*root_, environment);
  } catch (Complaint& complaint) {
    return tl::unexpected(std::move(complaint.diagnostic));
  }
}

tl::expected<std::int64_t, base::Diagnostic> Expression::evaluate_integer(const Environment& environment) const {
  const auto value = evaluate(environment);
  if (!value) return tl::unexpected(value.error());
  if (!is_real(*value)) return as_integer(*value);
  base::Diagnostic diagnostic;
  diagnostic.file = *root_->file;
  diagnostic.line = root_->line;
  diagnostic.column = root_->column;
  diagnostic.message = fmt::format("expected an integer, but `{}` is {}", text(), real_text(as_real(*value)));
  return tl::unexpected(std::move(diagnostic));
}

std::vector<std::string> Expression::names() const {
  std::vector<std::string> names;
  if (root_) collect_names(*root_, names);
  return names;
}

std::string Expression::text() const {
  std::string out;
  if (root_) print(*root_, out);
  return out;
}

}  // namespace cudal1::kernel
