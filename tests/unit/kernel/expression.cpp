// SPDX-License-Identifier: Apache-2.0
#include "kernel/expression.hpp"

#include "catch.hpp"

#include <limits>

using namespace cudal1::kernel;

namespace {

Value value(const std::string& text, const Environment& environment = {}) {
  const auto expression = Expression::parse(text);
  if (!expression) FAIL(text << ": " << expression.error().message);
  const auto result = expression->evaluate(environment);
  if (!result) FAIL(text << ": " << result.error().message);
  return *result;
}

std::string message(const std::string& text, const Environment& environment = {}) {
  const auto expression = Expression::parse(text);
  if (!expression) return expression.error().message;
  const auto result = expression->evaluate(environment);
  return result ? "no error" : result.error().message;
}

}  // namespace

TEST_CASE("integers are 64-bit and follow C") {
  CHECK(value("2 + 3 * 4") == Value(std::int64_t{14}));
  CHECK(value("-7 / 2") == Value(std::int64_t{-3}));
  CHECK(value("-7 % 3") == Value(std::int64_t{-1}));
  CHECK(value("ceil_div(7, 2) + ceil_div(-7, 2) + ceil_div(8, 2)") == Value(std::int64_t{4 - 3 + 4}));
  CHECK(value("min(3, 1, 2) + max(3, 5)") == Value(std::int64_t{6}));
  CHECK(value("N > 3 && !(N == 4) ? 1 : 2", {{"N", std::int64_t{4}}}) == Value(std::int64_t{2}));
  CHECK(value("0x10 + 1024u") == Value(std::int64_t{1040}));
  CHECK(value("-9223372036854775808") == Value(std::numeric_limits<std::int64_t>::min()));
  // The side that is not taken is not evaluated.
  CHECK(value("0 == 0 || 1 / 0 == 1") == Value(true));
}

TEST_CASE("one real operand makes a result real") {
  CHECK(value("1 / 2.0") == Value(0.5));
  CHECK(value("1.0 / sqrt(N)", {{"N", std::int64_t{64}}}) == Value(0.125));
  CHECK(value("1e-3f * 1000") == Value(1e-3 * 1000));
}

TEST_CASE("what cannot be computed is said") {
  CHECK(message("9223372036854775807 + 1") == "9223372036854775807 + 1 does not fit into 64 bits");
  CHECK(message("1 % (2 - 2)") == "division by zero: `2 - 2` is 0");
  CHECK(message("(-9223372036854775807 - 1) / -1") == "the result does not fit into 64 bits");
  CHECK(message("9223372036854775808") == "`9223372036854775808` does not fit into 64 bits");
  CHECK(message("sqrt(0 - 1)") == "sqrt of a negative number, -1");
  CHECK(message("12ab") == "`12ab` is not a number");
  CHECK(message("(1") == "expected `)` to close the parenthesis, found the end of the line");
  CHECK(message(std::string(100'000, '(')) == "the expression is nested too deeply");
  std::string sum = "1";
  for (int i = 0; i < 5000; ++i) sum += "+1";
  CHECK(message(sum) == "the expression is too long");
}

TEST_CASE("an unknown name suggests the nearest and points at itself") {
  const auto expression = Expression::parse("2 * WITDH", "k.cu", 3, 10);
  REQUIRE(expression);
  const auto result = expression->evaluate({{"WIDTH", std::int64_t{1}}});
  REQUIRE_FALSE(result);
  CHECK(result.error().file == "k.cu");
  CHECK(result.error().line == 3);
  CHECK(result.error().column == 14);
  CHECK(result.error().hint == "did you mean `WIDTH`?");
}

TEST_CASE("a printed expression reads back as itself") {
  for (const std::string text : {"a - (b - c)", "(a + b) * c", "-(-5)", "a - -5", "!(a && b) || c", "a ? b : c ? d : e", "(a ? b : c) + 1",
                                 "max(a, b * (c + 1), 2) % 3", "-a * b", "0.5 + 1e-10", "-(a + b)", "a / (b * c)", "a == (b < c)"}) {
    const auto first = Expression::parse(text);
    REQUIRE(first);
    const auto second = Expression::parse(first->text());
    REQUIRE(second);
    CHECK(*first == *second);
    const Environment values = {{"a", std::int64_t{7}}, {"b", std::int64_t{3}}, {"c", std::int64_t{2}}, {"d", std::int64_t{1}}, {"e", std::int64_t{9}}};
    CHECK(first->evaluate(values) == second->evaluate(values));
  }
  CHECK(Expression::parse("(a+b)*c")->text() == "(a + b) * c");
}
