// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tl/expected.hpp>

namespace cudal1::kernel {

// A size, scalar or tunable: integers are 64-bit and checked, reals are doubles.
using Value = std::variant<std::int64_t, double, bool>;
using Environment = std::map<std::string, Value>;

// A parsed expression of a directive: + - * / % < <= > >= == != && || ! ?: ( ) min max ceil_div sqrt, names and literals.
// Integer division truncates as in C; sqrt gives a real. Immutable and cheap to copy.
class Expression {
 public:
  Expression() = default;

  // Parses the whole of `text`; the diagnostic's column counts from `column` in `line` of `file`.
  static tl::expected<Expression, base::Diagnostic> parse(std::string_view text, const std::string& file = "",
                                                          int line = 1, int column = 1);
  static Expression literal(std::int64_t value);

  // Errors: an unknown name (with the nearest known one), division by zero, a result outside 64 bits.
  tl::expected<Value, base::Diagnostic> evaluate(const Environment& environment) const;
  tl::expected<std::int64_t, base::Diagnostic> evaluate_integer(const Environment& environment) const;

  std::vector<std::string> names() const;  // every name read, each once
  std::string text() const;                // printed form; parse(text()) equals this
  bool empty() const { return !root_; }
  bool operator==(const Expression& other) const { return text() == other.text(); }

  struct Node;  // defined in expression_node.hpp, for this part's own use
  explicit Expression(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
  const Node* root() const { return root_.get(); }

 private:
  std::shared_ptr<const Node> root_;
};

}  // namespace cudal1::kernel
