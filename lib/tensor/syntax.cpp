// SPDX-License-Identifier: Apache-2.0
#include "tensor/syntax.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::tensor {
namespace {

using Kind = Expression::Kind;
constexpr int depth_limit = 200;          // of nested brackets and operators, bounds every recursion over an expression
constexpr std::size_t text_limit = 1 << 16;

struct Level {
  std::vector<std::string_view> signs;
};
const Level levels[] = {{{"|"}}, {{"^"}}, {{"&"}}, {{"+", "-"}}, {{"*", "/", "//", "%", "@"}}};

class Reader {
 public:
  explicit Reader(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Syntax all() {
    while (peek().kind != Token::Kind::end) {
      if (accept(";")) continue;
      statement();
      if (peek().is("=")) fail("only a name can be assigned to, not a part of a tensor; write the whole, with torch.cat, torch.where or torch.stack");
      if (peek().kind != Token::Kind::end && !accept(";")) fail("expected an operator, \";\" or the end of the line");
    }
    return std::move(syntax_);
  }

 private:
  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  Token take() {
    const Token token = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool accept(std::string_view sign) {
    if (!peek().is(sign)) return false;
    take();
    return true;
  }
  bool accept_word(std::string_view word) {
    if (!peek().word(word)) return false;
    take();
    return true;
  }
  [[noreturn]] void fail(std::string message) const {
    const Token& token = peek();
    if (token.kind == Token::Kind::end) message += ", but the line ends here";
    throw LexicalError{token.column, std::move(message)};
  }
  void expect(std::string_view sign) {
    if (!accept(sign)) fail(fmt::format("expected \"{}\"", sign));
  }

  int add(Kind kind, std::string_view text, std::vector<int> children, int column) {
    Expression expression;
    expression.kind = kind;
    expression.text = std::string(text);
    expression.children = std::move(children);
    expression.column = column;
    for (const int child : expression.children)
      if (child >= 0) expression.depth = std::max(expression.depth, syntax_.expressions[static_cast<std::size_t>(child)].depth + 1);
    if (expression.depth > depth_limit) throw LexicalError{column, "the expression is nested too deeply"};
    syntax_.expressions.push_back(std::move(expression));
    return static_cast<int>(syntax_.expressions.size()) - 1;
  }

  void statement() {
    Statement result;
    result.column = peek().column;
    // Names separated by commas and followed by `=` are targets.
    std::size_t ahead = 0;
    const bool bracket = peek().is("(");
    if (bracket) ++ahead;
    std::vector<std::string> targets;
    while (peek(ahead).kind == Token::Kind::name) {
      targets.emplace_back(peek(ahead++).text);
      if (!peek(ahead).is(",")) break;
      ++ahead;
    }
    if (bracket && peek(ahead).is(")")) ++ahead;
    const Token& sign = peek(ahead);
    const bool augmented = targets.size() == 1 && ahead == 1 && sign.kind == Token::Kind::sign && sign.text.size() >= 2 &&
                           sign.text.back() == '=' && std::string_view("+-*/@").find(sign.text.front()) != std::string_view::npos;
    if (!targets.empty() && (sign.is("=") || augmented)) {
      for (std::size_t i = 0; i <= ahead; ++i) take();
      result.targets = targets;
    }
    result.value = tuple();
    if (augmented) {
      const int left = add(Kind::name, targets.front(), {}, result.column);
      result.value = add(Kind::binary, sign.text.substr(0, sign.text.size() - 1), {left, result.value}, sign.column);
    }
    syntax_.statements.push_back(std::move(result));
  }

  // One expression, or several separated by commas.
  int tuple() {
    const int column = peek().column;
    const int first = expression();
    if (!peek().is(",")) return first;
    std::vector<int> items = {first};
    while (accept(",") && peek().kind != Token::Kind::end && !peek().is(";") && !peek().is(")")) items.push_back(expression());
    return add(Kind::tuple, "", std::move(items), column);
  }

  // Recursion passes through here and through unary() only.
  struct Nested {
    explicit Nested(Reader& reader) : reader_(reader) {
      if (++reader_.nested_ > depth_limit) throw LexicalError{reader.peek().column, "the expression is nested too deeply"};
    }
    ~Nested() { --reader_.nested_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;
    Reader& reader_;
  };

  int expression() {
    const Nested nested(*this);
    const int column = peek().column;
    const int value = either();
    if (!accept_word("if")) return value;
    const int condition = either();
    if (!accept_word("else")) fail("expected \"else\"");
    const int other = expression();
    return add(Kind::choice, "", {value, condition, other}, column);
  }

  int either() {
    int left = both();
    while (peek().word("or")) {
      const int column = take().column;
      const int right = both();
      left = add(Kind::binary, "or", {left, right}, column);
    }
    return left;
  }

  int both() {
    int left = negation();
    while (peek().word("and")) {
      const int column = take().column;
      const int right = negation();
      left = add(Kind::binary, "and", {left, right}, column);
    }
    return left;
  }

  int negation() {
    if (!peek().word("not")) return comparison();
    const Nested nested(*this);
    const int column = take().column;
    const int operand = negation();
    return add(Kind::unary, "not", {operand}, column);
  }

  int comparison() {
    int left = chain(0);
    bool compared = false;
    while (true) {
      std::string sign;
      const int column = peek().column;
      for (const std::string_view known : {"==", "!=", "<=", ">=", "<", ">"})
        if (peek().is(known)) sign = known;
      if (sign.empty() && peek().word("is")) sign = "is";
      if (sign.empty()) return left;
      if (compared) fail("a chain of comparisons needs & between its parts");
      take();
      if (sign == "is" && accept_word("not")) sign = "is not";
      const int right = chain(0);
      left = add(Kind::binary, sign, {left, right}, column);
      compared = true;
    }
  }

  int chain(std::size_t level) {
    if (level == std::size(levels)) return unary();
    int left = chain(level + 1);
    while (peek().kind == Token::Kind::sign &&
           std::find(levels[level].signs.begin(), levels[level].signs.end(), peek().text) != levels[level].signs.end()) {
      const Token sign = take();
      const int right = chain(level + 1);
      left = add(Kind::binary, sign.text, {left, right}, sign.column);
    }
    return left;
  }

  int unary() {
    const Nested nested(*this);
    if (peek().is("-") || peek().is("+") || peek().is("~")) {
      const Token sign = take();
      const int operand = unary();
      return add(Kind::unary, sign.text, {operand}, sign.column);
    }
    const int base = primary();
    if (!peek().is("**")) return base;
    const int column = take().column;
    const int exponent = unary();
    return add(Kind::binary, "**", {base, exponent}, column);
  }

  int primary() {
    int value = atom();
    while (true) {
      const int column = peek().column;
      if (accept(".")) {
        if (peek().kind != Token::Kind::name) fail("expected a name after \".\"");
        const int name_column = peek().column;
        value = add(Kind::attribute, take().text, {value}, name_column);
      } else if (accept("(")) {
        value = call(value, column);
      } else if (accept("[")) {
        std::vector<int> children = {value};
        do {
          if (peek().is("]")) break;
          children.push_back(index_item());
        } while (accept(","));
        expect("]");
        if (children.size() == 1) throw LexicalError{column, "expected an index between \"[\" and \"]\""};
        value = add(Kind::index, "", std::move(children), column);
      } else {
        return value;
      }
    }
  }

  int call(int callee, int column) {
    std::vector<int> children = {callee};
    std::vector<std::string> keywords = {""};
    while (!peek().is(")")) {
      std::string keyword;
      if (peek().kind == Token::Kind::name && peek(1).is("=")) {
        keyword = std::string(take().text);
        take();
      }
      if (keyword.empty() && peek().is("*")) {
        const int star_column = take().column;
        const int operand = expression();
        children.push_back(add(Kind::unary, "*", {operand}, star_column));
      } else {
        children.push_back(expression());
      }
      keywords.push_back(std::move(keyword));
      if (!accept(",")) break;
    }
    expect(")");
    const int result = add(Kind::call, "", std::move(children), column);
    syntax_.expressions.back().keywords = std::move(keywords);
    return result;
  }

  int index_item() {
    const int column = peek().column;
    int parts[3] = {-1, -1, -1};
    if (!peek().is(":")) {
      parts[0] = expression();
      if (!peek().is(":")) return parts[0];
    }
    for (int i = 1; i < 3 && accept(":"); ++i)
      if (!peek().is(":") && !peek().is("]") && !peek().is(",")) parts[i] = expression();
    return add(Kind::slice, "", {parts[0], parts[1], parts[2]}, column);
  }

  int atom() {
    const Token token = peek();
    if (token.kind == Token::Kind::name) {
      if (token.text.front() == '$') fail("unexpected character \"$\"");
      if (token.word("lambda") || token.word("for") || token.word("if")) fail(fmt::format("\"{}\" is not part of a torch line", token.text));
      take();
      return add(Kind::name, token.text, {}, token.column);
    }
    if (token.kind == Token::Kind::integer || token.kind == Token::Kind::real) {
      take();
      const int result = add(token.kind == Token::Kind::integer ? Kind::integer : Kind::real, "", {}, token.column);
      syntax_.expressions.back().integer = token.integer;
      syntax_.expressions.back().real = token.real;
      return result;
    }
    if (token.kind == Token::Kind::text) {
      take();
      return add(Kind::text, token.text, {}, token.column);
    }
    if (accept("...")) return add(Kind::ellipsis, "", {}, token.column);
    if (accept("(")) {
      if (accept(")")) return add(Kind::tuple, "", {}, token.column);
      const int inner = tuple();
      expect(")");
      return inner;
    }
    if (accept("[")) {
      std::vector<int> items;
      while (!peek().is("]")) {
        items.push_back(expression());
        if (peek().word("for")) fail("a list comprehension is not part of a torch line");
        if (!accept(",")) break;
      }
      expect("]");
      return add(Kind::list, "", std::move(items), token.column);
    }
    fail("expected a value");
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int nested_ = 0;
  Syntax syntax_;
};

}  // namespace

tl::expected<Syntax, LexicalError> read_syntax(std::string_view text) {
  if (text.size() > text_limit) return tl::unexpected(LexicalError{1, "the torch line is longer than 65536 characters"});
  auto list = tokens(text);
  if (!list) return tl::unexpected(list.error());
  try {
    return Reader(std::move(*list)).all();
  } catch (const LexicalError& error) {
    return tl::unexpected(error);
  }
}

}  // namespace cudal1::tensor
