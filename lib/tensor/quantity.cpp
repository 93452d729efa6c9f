// SPDX-License-Identifier: Apache-2.0
#include "tensor/quantity.hpp"

#include "tensor/lexer.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::tensor {
namespace {

constexpr std::size_t text_limit = 2000;
constexpr double integer_limit = 0x1p60;

std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a / b - ((a % b != 0 && (a % b < 0) != (b < 0)) ? 1 : 0); }

Number integer_power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  if (base == 0 || base == 1) return Number::of(exponent == 0 ? 1 : base);
  if (base == -1) return Number::of(exponent % 2 == 0 ? 1 : -1);
  for (; exponent > 0; --exponent) {
    if (std::abs(static_cast<double>(result) * static_cast<double>(base)) > integer_limit) throw Refusal("an integer is too large");
    result *= base;
  }
  return Number::of(result);
}

// How tightly the outermost operator of a C expression binds: 3 nothing to split, 2 a product, 1 a sum or a sign.
int binding(std::string_view text) {
  int depth = 0, result = 3;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (depth > 0) continue;
    if (c == '*' || c == '/' || c == '%') result = std::min(result, 2);
    // A sign inside a number's exponent follows its e.
    if ((c == '+' || c == '-') && !(i > 1 && text[i - 1] == 'e' && text[i - 2] >= '0' && text[i - 2] <= '9')) result = 1;
  }
  return result;
}

std::string wrapped(const std::string& text, int needed) { return binding(text) < needed ? "(" + text + ")" : text; }

bool literal(const std::string& text, std::int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

std::string literal_sum(const std::string& text, std::int64_t addend) {
  if (addend == 0) return text;
  // A literal at the end of the sum takes the addend in.
  const auto at = text.find_last_of(' ');
  std::int64_t tail = 0;
  if (binding(text) == 1 && at != std::string::npos && at >= 2 && (text[at - 1] == '+' || text[at - 1] == '-') &&
      literal(text.substr(at + 1), tail) && tail >= 0) {
    const std::string head = text.substr(0, at - 2);
    const std::int64_t sum = (text[at - 1] == '-' ? -tail : tail) + addend;
    if (sum == 0) return head;
    return fmt::format("{} {} {}", head, sum < 0 ? "-" : "+", sum < 0 ? -sum : sum);
  }
  return fmt::format("{} {} {}", text, addend < 0 ? "-" : "+", addend < 0 ? -addend : addend);
}

std::string text_of(std::string_view sign, const std::string& a, const std::string& b) {
  std::int64_t x = 0, y = 0;
  const bool known_x = literal(a, x), known_y = literal(b, y);
  if (sign == "+") {
    if (known_y && std::abs(y) < (1 << 30)) return literal_sum(a, y);
    if (known_x && x == 0) return b;
    return fmt::format("{} + {}", a, binding(b) == 1 && !b.empty() && b[0] == '-' ? "(" + b + ")" : b);
  }
  if (sign == "-") {
    if (known_y && std::abs(y) < (1 << 30)) return literal_sum(a, -y);
    return a == b ? "0" : fmt::format("{} - {}", a, wrapped(b, 2));
  }
  if (sign == "*") {
    if ((known_x && x == 0) || (known_y && y == 0)) return "0";
    if (known_x && x == 1) return b;
    if (known_y && y == 1) return a;
    return fmt::format("{} * {}", wrapped(a, 2), wrapped(b, 3));
  }
  if (sign == "//") return known_y && y == 1 ? a : fmt::format("{} / {}", wrapped(a, 2), wrapped(b, 3));
  if (sign == "%") return fmt::format("{} % {}", wrapped(a, 2), wrapped(b, 3));
  if (sign == "/") return fmt::format("double({}) / {}", a, wrapped(b, 3));
  if (sign == "**") return known_y && y == 2 ? fmt::format("{0} * {0}", wrapped(a, 3)) : fmt::format("pow({}, {})", a, b);
  return fmt::format("{}({}, {})", sign, a, b);
}

std::string number_text(const Number& number) {
  if (!number.real) return std::to_string(number.integer);
  if (std::isinf(number.value)) return number.value < 0 ? "-INFINITY" : "INFINITY";
  std::string text = fmt::format("{}", number.value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

bool is_literal(const std::string& text) {
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  return text.size() > first && text[first] >= '0' && text[first] <= '9' &&
         text.find_first_not_of("0123456789.e+-", first) == std::string::npos;
}

Quantity combine(std::string_view sign, const Quantity& a, const Quantity& b) {
  Quantity result;
  for (std::size_t i = 0; i < a.values.size(); ++i) result.values.push_back(arithmetic(sign, a.values[i], b.values[i]));
  result.text = is_literal(a.text) && is_literal(b.text) && !result.values.empty() ? number_text(result.values.front())
                                                                                   : text_of(sign, a.text, b.text);
  if (result.text.size() > text_limit) throw Refusal("an extent has become too long to write down");
  return result;
}

Quantity map(std::string_view function, const Quantity& a) {
  Quantity result;
  for (const Number& value : a.values) result.values.push_back(arithmetic(function, value));
  if (is_literal(a.text) && !result.values.empty())
    result.text = number_text(result.values.front());
  else if (function == "neg")
    result.text = "-" + wrapped(a.text, 3);
  else if (function == "int")
    result.text = "(long long)(" + a.text + ")";
  else
    result.text = fmt::format("{}({})", function == "float" ? "double" : function, a.text);
  if (result.text.size() > text_limit) throw Refusal("an extent has become too long to write down");
  return result;
}

class SizeReader {
 public:
  SizeReader(std::vector<Token> tokens, const Names& names) : tokens_(std::move(tokens)), names_(names) {}

  Quantities all() {
    Quantities result = sum(0);
    if (peek().kind != Token::Kind::end) throw Refusal("a size expression cannot be read");
    return result;
  }

 private:
  const Token& peek() const { return tokens_[at_]; }
  Token take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool accept(std::string_view sign) {
    if (!peek().is(sign)) return false;
    take();
    return true;
  }
  void expect(std::string_view sign) {
    if (!accept(sign)) throw Refusal("a size expression cannot be read");
  }
  static Quantity one(const Quantities& q) {
    if (q.list || q.items.size() != 1) throw Refusal("a size expression needs a number where a list stands");
    return q.items.front();
  }
  static Quantities single(Quantity q) {
    Quantities result;
    result.items.push_back(std::move(q));
    return result;
  }
  Quantity constant(Number number) const {
    Quantity result{number_text(number), {}};
    result.values.assign(names_.assignments, number);
    return result;
  }

  Quantities sum(int depth) {
    if (depth > 100) throw Refusal("a size expression is nested too deeply");
    Quantities left = product(depth);
    while (peek().is("+") || peek().is("-")) {
      const std::string sign(take().text);
      left = single(combine(sign, one(left), one(product(depth))));
    }
    return left;
  }

  Quantities product(int depth) {
    Quantities left = unary(depth);
    while (peek().is("*") || peek().is("/") || peek().is("//") || peek().is("%")) {
      const std::string sign(take().text);
      left = single(combine(sign, one(left), one(unary(depth))));
    }
    return left;
  }

  Quantities unary(int depth) {
    if (depth > 100) throw Refusal("a size expression is nested too deeply");
    if (accept("-")) return single(map("neg", one(unary(depth + 1))));
    Quantities base = atom(depth);
    if (!accept("**")) return base;
    return single(combine("**", one(base), one(unary(depth + 1))));
  }

  Quantities atom(int depth) {
    const Token token = take();
    if (token.kind == Token::Kind::integer) return single(constant(Number::of(token.integer)));
    if (token.kind == Token::Kind::real) return single(constant(Number::of_real(token.real)));
    if (token.is("(")) {
      Quantities result;
      if (accept(")")) {
        result.list = true;
        return result;
      }
      result = sum(depth + 1);
      if (peek().is(",")) {
        result.list = true;
        while (accept(",") && !peek().is(")")) result.items.push_back(one(sum(depth + 1)));
      }
      expect(")");
      return result;
    }
    if (token.kind != Token::Kind::name) throw Refusal("a size expression cannot be read");
    if (token.text.front() == '$') return shape(token);
    std::string name(token.text);
    if (name == "math") {
      expect(".");
      name = std::string(take().text);
    }
    if (!accept("(")) return single(names_.name(name));
    std::vector<Quantity> arguments;
    if (name == "float" && peek().kind == Token::Kind::text) {
      const std::string text(take().text);
      expect(")");
      return single(constant(Number::of_real(text == "-inf" ? -INFINITY : text == "inf" ? INFINITY : NAN)));
    }
    while (!accept(")")) {
      arguments.push_back(one(sum(depth + 1)));
      if (!peek().is(")")) expect(",");
    }
    if (arguments.size() == 1 && is_unary(name)) return single(map(name, arguments[0]));
    if (arguments.size() == 2 && (name == "min" || name == "max")) return single(combine(name, arguments[0], arguments[1]));
    throw Refusal(fmt::format("{} is not known in a size expression", name));
  }

  std::int64_t integer() {
    const bool negative = accept("-");
    const Token token = take();
    if (token.kind != Token::Kind::integer) throw Refusal("a size expression cannot be read");
    return negative ? -token.integer : token.integer;
  }

  // `$3.shape`, `$3.shape[-1]`, `$3.shape[1:3]`, `$3.numel()`.
  Quantities shape(const Token& token) {
    NodeId node = -1;
    std::from_chars(token.text.data() + 1, token.text.data() + token.text.size(), node);
    const Shape& shape = names_.shape(node);
    expect(".");
    const std::string what(take().text);
    if (what == "numel") {
      expect("(");
      expect(")");
      Quantity product = Quantity::of(1, names_.assignments);
      for (const Extent& extent : shape) product = product * Quantity::of(extent);
      return single(product);
    }
    if (what != "shape") throw Refusal("a size expression cannot be read");
    const std::int64_t rank = static_cast<std::int64_t>(shape.size());
    Quantities result;
    std::int64_t first = 0, last = rank;
    if (accept("[")) {
      const bool from = !peek().is(":");
      if (from) first = integer();
      if (first < 0) first += rank;
      if (accept("]")) {
        if (first < 0 || first >= rank) throw Refusal(fmt::format("shape[{}] of a tensor with {} dimensions", first < 0 ? first - rank : first, rank));
        return single(Quantity::of(shape[static_cast<std::size_t>(first)]));
      }
      expect(":");
      if (!peek().is("]")) last = integer();
      if (last < 0) last += rank;
      expect("]");
    }
    result.list = true;
    for (std::int64_t i = std::max<std::int64_t>(first, 0); i < std::min(last, rank); ++i)
      result.items.push_back(Quantity::of(shape[static_cast<std::size_t>(i)]));
    return result;
  }

  std::vector<Token> tokens_;
  const Names& names_;
  std::size_t at_ = 0;
};

}  // namespace

Number arithmetic(std::string_view sign, const Number& a, const Number& b) {
  const bool division = sign == "/" || sign == "//" || sign == "%";
  if (division && b.value == 0) throw Refusal("a size expression divides by zero");
  if (a.real || b.real || sign == "/" || (sign == "**" && b.integer < 0)) {
    const double x = a.value, y = b.value;
    if (sign == "+") return Number::of_real(x + y);
    if (sign == "-") return Number::of_real(x - y);
    if (sign == "*") return Number::of_real(x * y);
    if (sign == "/") return Number::of_real(x / y);
    if (sign == "//") return Number::of_real(std::floor(x / y));
    if (sign == "%") return Number::of_real(x - y * std::floor(x / y));
    if (sign == "**") return Number::of_real(std::pow(x, y));
    if (sign == "min") return y < x ? b : a;
    return y > x ? b : a;
  }
  const std::int64_t x = a.integer, y = b.integer;
  const auto checked = [](double size) {
    if (std::abs(size) > integer_limit) throw Refusal("an integer is too large");
  };
  if (sign == "+") return checked(a.value + b.value), Number::of(x + y);
  if (sign == "-") return checked(a.value - b.value), Number::of(x - y);
  if (sign == "*") return checked(a.value * b.value), Number::of(x * y);
  if (sign == "//") return y == -1 ? (checked(a.value), Number::of(-x)) : Number::of(floor_divide(x, y));
  if (sign == "%") return y == -1 ? Number::of(0) : Number::of(x - y * floor_divide(x, y));
  if (sign == "**") return integer_power(x, y);
  if (sign == "min") return y < x ? b : a;
  return y > x ? b : a;
}

bool is_unary(std::string_view function) {
  for (const std::string_view known : {"neg", "sqrt", "exp", "log", "log2", "floor", "ceil", "abs", "int", "float", "round"})
    if (known == function) return true;
  return false;
}

Number arithmetic(std::string_view function, const Number& a) {
  const auto integer = [](double value) {
    if (!(std::abs(value) < integer_limit)) throw Refusal("an integer is too large");
    return Number::of(static_cast<std::int64_t>(value));
  };
  if (function == "neg") {
    if (a.real) return Number::of_real(-a.value);
    return a.integer == INT64_MIN ? throw Refusal("an integer is too large") : Number::of(-a.integer);
  }
  if (function == "sqrt") return Number::of_real(std::sqrt(a.value));
  if (function == "exp") return Number::of_real(std::exp(a.value));
  if (function == "log") return Number::of_real(std::log(a.value));
  if (function == "log2") return Number::of_real(std::log2(a.value));
  if (function == "float") return Number::of_real(a.value);
  if (function == "abs") return a.real ? Number::of_real(std::abs(a.value)) : a.value < 0 ? arithmetic("neg", a) : a;
  if (!a.real) return a;
  if (function == "floor") return integer(std::floor(a.value));
  if (function == "ceil") return integer(std::ceil(a.value));
  if (function == "round") return integer(std::nearbyint(a.value));
  return integer(std::trunc(a.value));
}

Quantity Quantity::of(std::int64_t value, std::size_t assignments) {
  Quantity result{std::to_string(value), {}};
  result.values.assign(assignments, Number::of(value));
  return result;
}

Quantity Quantity::of(const Extent& extent) {
  Quantity result{extent.text, {}};
  for (const std::int64_t value : extent.values) result.values.push_back(Number::of(value));
  return result;
}

Extent Quantity::extent() const {
  Extent result{text, {}};
  for (const Number& value : values) {
    if (value.real) throw Refusal(fmt::format("{} is not an integer", text));
    result.values.push_back(value.integer);
  }
  return result;
}

Quantity operator+(const Quantity& a, const Quantity& b) { return combine("+", a, b); }
Quantity operator-(const Quantity& a, const Quantity& b) { return combine("-", a, b); }
Quantity operator*(const Quantity& a, const Quantity& b) { return combine("*", a, b); }
Quantity operator/(const Quantity& a, const Quantity& b) { return combine("//", a, b); }
Quantity ceil_div(const Quantity& a, const Quantity& b) {
  return (a + b - Quantity::of(1, a.values.size())) / b;
}
Quantity minimum(const Quantity& a, const Quantity& b) { return combine("min", a, b); }
Quantity maximum(const Quantity& a, const Quantity& b) { return combine("max", a, b); }

Quantities read_size_text(std::string_view text, const Names& names) {
  auto read = tokens(text);
  if (!read) throw Refusal(read.error().message);
  return SizeReader(std::move(*read), names).all();
}

}  // namespace cudal1::tensor
