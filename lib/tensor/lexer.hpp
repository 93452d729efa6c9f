// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace cudal1::tensor {

// A token of a torch line. Its text is a view into the line, which must outlive it.
struct Token {
  enum class Kind { name, integer, real, text, sign, end };
  Kind kind = Kind::end;
  std::string_view text;     // a string without its quotes
  std::int64_t integer = 0;
  double real = 0;
  int column = 1;            // from 1

  bool is(std::string_view sign) const { return kind == Kind::sign && text == sign; }
  bool word(std::string_view name) const { return kind == Kind::name && text == name; }
};

struct LexicalError {
  int column = 1;
  std::string message;
};

// `$3` is the name of node 3 and occurs in stored size texts only.
tl::expected<std::vector<Token>, LexicalError> tokens(std::string_view text);

}  // namespace cudal1::tensor
