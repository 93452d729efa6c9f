// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/lexer.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace cudal1::tensor {

// Python's expression syntax, as far as a torch line uses it. Expressions live in one vector and name each other by
// index, so that no text, however nested, costs a recursion when it is thrown away.
struct Expression {
  enum class Kind {
    name,       // text
    integer, real, text,
    tuple, list,
    unary,      // text is the operator: - + ~ not *
    binary,     // text is the operator, comparisons and `and`, `or`, `is`, `is not` included
    choice,     // a if b else c: children a, b, c
    attribute,  // child 0, text
    call,       // child 0, then the arguments; keywords[i] names argument i, "" for a positional one
    index,      // child 0, then one child per comma-separated item
    slice,      // three children, -1 where absent
    ellipsis,
  };
  Kind kind = Kind::name;
  std::string text;
  std::int64_t integer = 0;
  double real = 0;
  std::vector<int> children;
  std::vector<std::string> keywords;
  int column = 1;
  int depth = 1;
};

struct Statement {
  std::vector<std::string> targets;  // more than one: a tuple is unpacked
  int value = -1;                    // index of an expression
  int column = 1;
};

struct Syntax {
  std::vector<Expression> expressions;
  std::vector<Statement> statements;
};

// Statements `a, b = x; c = y`. A bare expression is a statement without targets.
tl::expected<Syntax, LexicalError> read_syntax(std::string_view text);

}  // namespace cudal1::tensor
