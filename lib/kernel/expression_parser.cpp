// SPDX-License-Identifier: Apache-2.0
#include "kernel/complaint.hpp"
#include "kernel/expression_node.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "base/text.hpp"

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

using Node = Expression::Node;
using Kind = Node::Kind;

// Keeps evaluation, printing and destruction, which all recurse, within a small stack.
constexpr int depth_limit = 256;

class Parser {
 public:
  explicit Parser(TokenStream& stream) : stream_(stream), file_(std::make_shared<const std::string>(stream.file())) {}

  Node::Pointer conditional() {
    const Nesting nesting(*this);
    Node::Pointer condition = binary(1);
    if (!stream_.peek().is("?")) return condition;
    const Token at = stream_.take();
    Node::Pointer yes = conditional();
    stream_.expect(":", "between the two values of `?`");
    Node::Pointer no = conditional();
    return make(Kind::conditional, at, "?", {std::move(condition), std::move(yes), std::move(no)});
  }

 private:
  struct Nesting {
    explicit Nesting(Parser& owner) : parser(owner) {
      if (++parser.depth_ > depth_limit) parser.stream_.fail("the expression is nested too deeply");
    }
    ~Nesting() { --parser.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    Parser& parser;
  };

  std::shared_ptr<Node> leaf(Kind kind, const Token& at) const {
    auto node = std::make_shared<Node>();
    node->kind = kind;
    node->file = file_;
    node->line = at.line;
    node->column = at.column;
    return node;
  }

  Node::Pointer make(Kind kind, const Token& at, std::string text, std::vector<Node::Pointer> children) const {
    auto node = leaf(kind, at);
    node->text = std::move(text);
    for (const auto& child : children) node->depth = std::max(node->depth, child->depth + 1);
    if (node->depth > depth_limit) stream_.fail_at(at, "the expression is too long", "split it into several sizes");
    node->children = std::move(children);
    return node;
  }

  Node::Pointer binary(int level) {
    if (level > 6) return unary();
    Node::Pointer left = binary(level + 1);
    while (stream_.peek().kind == Token::Kind::symbol && precedence(stream_.peek().text) == level) {
      const Token at = stream_.take();
      if (at.is(">") && stream_.peek().is(">")) fail_shift();
      Node::Pointer right = binary(level + 1);
      left = make(Kind::binary, at, at.text, {std::move(left), std::move(right)});
    }
    if (stream_.peek().is("<<")) fail_shift();
    return left;
  }

  [[noreturn]] void fail_shift() const {
    stream_.fail("expressions have no shifts", "write a product or a quotient, such as N * 4 or N / 4");
  }

  Node::Pointer unary() {
    const Nesting nesting(*this);
    const Token at = stream_.peek();
    if (at.is("-")) {
      stream_.take();
      if (stream_.peek().kind == Token::Kind::integer) {
        // The smallest 64-bit integer has no positive counterpart, so the sign belongs to the literal.
        const Token digits = stream_.take();
        auto node = leaf(Kind::integer, at);
        node->integer = integer(digits, true);
        return node;
      }
      return make(Kind::negate, at, "-", {unary()});
    }
    if (at.is("+")) {
      stream_.take();
      return unary();
    }
    if (at.is("!")) {
      stream_.take();
      return make(Kind::logical_not, at, "!", {unary()});
    }
    return primary();
  }

  Node::Pointer primary() {
    const Token at = stream_.peek();
    switch (at.kind) {
      case Token::Kind::integer: {
        stream_.take();
        auto node = leaf(Kind::integer, at);
        node->integer = integer(at, false);
        return node;
      }
      case Token::Kind::real: {
        stream_.take();
        auto node = leaf(Kind::real, at);
        node->real = real(at);
        return node;
      }
      case Token::Kind::identifier:
        return name();
      case Token::Kind::symbol:
        if (stream_.accept("(")) {
          Node::Pointer inside = conditional();
          stream_.expect(")", "to close the parenthesis");
          return inside;
        }
        if (at.text == "&") stream_.fail("an expression has no addresses", "write C + N instead of &C[N]");
        break;
      case Token::Kind::string:
      case Token::Kind::end:
        break;
    }
    stream_.fail(fmt::format("expected an expression, found {}", describe(at)));
  }

  Node::Pointer name() {
    const Token at = stream_.take();
    if (at.text == "true" || at.text == "false") {
      auto node = leaf(Kind::boolean, at);
      node->integer = at.text == "true";
      return node;
    }
    if (at.text == "dim3") stream_.fail_at(at, "dim3 stands only as a whole grid, block or cluster");
    if (!stream_.peek().is("(")) {
      if (stream_.peek().is("["))
        stream_.fail(fmt::format("expressions cannot read elements of {}", at.text),
                     fmt::format("write {} + offset to pass a part of a buffer", at.text));
      auto node = leaf(Kind::name, at);
      node->text = at.text;
      return node;
    }
    return call(at);
  }

  // tensor_map(B, axes(K, N), box(32, 128), swizzle(128), type(tf32), strides(K)): its parts in any order behind the buffer.
  Node::Pointer tensor_map(const Token& at) {
    stream_.take();
    std::vector<Node::Pointer> parts{conditional()};
    while (stream_.accept(",")) {
      const Token part = stream_.expect_name("axes, box, strides, swizzle or type");
      static constexpr std::string_view known[] = {"axes", "box", "strides", "swizzle", "type"};
      if (std::find(std::begin(known), std::end(known), part.text) == std::end(known))
        stream_.fail_at(part, fmt::format("a tensor map has no `{}`; expected axes, box, strides, swizzle or type", part.text));
      for (const auto& earlier : parts)
        if (earlier->kind == Kind::call && earlier->text == part.text) stream_.fail_at(part, fmt::format("a second `{}`", part.text));
      stream_.expect("(", fmt::format("after {}", part.text));
      std::vector<Node::Pointer> values;
      do values.push_back(conditional());
      while (stream_.accept(","));
      stream_.expect(")", fmt::format("after the values of {}", part.text));
      parts.push_back(make(Kind::call, part, part.text, std::move(values)));
    }
    stream_.expect(")", "after the parts of tensor_map");
    return make(Kind::call, at, at.text, std::move(parts));
  }

  Node::Pointer call(const Token& at) {
    if (at.text == "tensor_map") return tensor_map(at);
    const auto& functions = function_names();
    if (std::find(functions.begin(), functions.end(), at.text) == functions.end()) {
      const auto near = base::nearest(at.text, functions);
      stream_.fail_at(at, fmt::format("unknown function `{}`; expected min, max, ceil_div or sqrt", at.text),
                      near ? fmt::format("did you mean `{}`?", *near) : "");
    }
    stream_.take();
    std::vector<Node::Pointer> arguments;
    do arguments.push_back(conditional());
    while (stream_.accept(","));
    stream_.expect(")", fmt::format("after the arguments of {}", at.text));
    const std::size_t count = arguments.size();
    const bool fits = at.text == "sqrt" ? count == 1 : at.text == "ceil_div" ? count == 2 : count >= 2;
    if (!fits)
      stream_.fail_at(at, fmt::format("{} takes {}, found {}", at.text,
                                      at.text == "sqrt"       ? "one argument"
                                      : at.text == "ceil_div" ? "two arguments"
                                                              : "two or more arguments",
                                      count));
    return make(Kind::call, at, at.text, std::move(arguments));
  }

  std::int64_t integer(const Token& token, bool negative) const {
    std::string_view digits = token.text;
    int base = 10;
    if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
      digits.remove_prefix(2);
      base = 16;
    }
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    const std::string_view suffix(end, static_cast<std::size_t>(digits.data() + digits.size() - end));
    if (error == std::errc::invalid_argument || suffix.find_first_not_of("uUlL") != std::string_view::npos)
      stream_.fail_at(token, fmt::format("`{}` is not a number", token.text));
    const std::uint64_t limit = std::uint64_t{std::numeric_limits<std::int64_t>::max()} + (negative ? 1 : 0);
    if (error == std::errc::result_out_of_range || value > limit)
      stream_.fail_at(token, fmt::format("`{}` does not fit into 64 bits", token.text));
    return static_cast<std::int64_t>(negative ? std::uint64_t{0} - value : value);
  }

  double real(const Token& token) const {
    std::string_view digits = token.text;
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const std::string_view suffix(end, static_cast<std::size_t>(digits.data() + digits.size() - end));
    if (error == std::errc::invalid_argument || !(suffix.empty() || suffix == "f" || suffix == "F"))
      stream_.fail_at(token, fmt::format("`{}` is not a number", token.text));
    if (error == std::errc::result_out_of_range || !std::isfinite(value))
      stream_.fail_at(token, fmt::format("`{}` does not fit into a double", token.text));
    return value;
  }

  TokenStream& stream_;
  std::shared_ptr<const std::string> file_;
  int depth_ = 0;
};

}  // namespace

int precedence(const std::string& symbol) {
  if (symbol == "||") return 1;
  if (symbol == "&&") return 2;
  if (symbol == "==" || symbol == "!=") return 3;
  if (symbol == "<" || symbol == "<=" || symbol == ">" || symbol == ">=") return 4;
  if (symbol == "+" || symbol == "-") return 5;
  if (symbol == "*" || symbol == "/" || symbol == "%") return 6;
  return 0;
}

const std::vector<std::string>& function_names() {
  static const std::vector<std::string> names = {"min", "max", "ceil_div", "sqrt"};
  return names;
}

Expression parse_expression(TokenStream& stream) { return Expression(Parser(stream).conditional()); }

}  // namespace cudal1::kernel
