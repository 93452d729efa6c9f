// SPDX-License-Identifier: Apache-2.0
// The extents of grids and blocks as host code writes them.
#include "kernel/host_expression.hpp"

#include <algorithm>

namespace cudal1::kernel {

namespace {

using Kind = SourceToken::Kind;
using Tokens = std::vector<SourceToken>;

}  // namespace

// `threads.x` of a dim3 in sight.
std::optional<std::string> HostTranslator::member(const std::string& word, char axis, std::size_t function, std::size_t at) {
  const auto found = definition(word, function, at);
  if (!found || nesting_ >= depth_limit) return std::nullopt;
  const auto dimensions = translate_dim3(*found, function, found->from);
  if (!dimensions) return std::nullopt;
  const auto index = static_cast<std::size_t>(axis - 'x');
  return index < dimensions->parts.size() ? "(" + dimensions->parts[index].text() + ") " : "1 ";
}

std::optional<HostTranslator::Dimensions> HostTranslator::translate_dim3(TokenRange range, std::size_t function, std::size_t at) {
  const Tokens& tokens = host_.tokens;
  for (int depth = 0; depth < depth_limit; ++depth) {
    if (range.from >= range.to) return std::nullopt;
    // dim3(a, b), dim3{a, b}, or the brackets alone, as a variable's definition gives them
    std::size_t open = range.from;
    if (tokens[open].is("dim3")) ++open;
    const bool bracket = open < range.to && (tokens[open].is("(") || tokens[open].is("{")) && matching_bracket(tokens, open) == range.to - 1;
    if (bracket && (open > range.from || tokens[open].is("{") || split_arguments(tokens, open + 1, range.to - 1).size() > 1)) {
      Dimensions dimensions;
      for (const TokenRange part : split_arguments(tokens, open + 1, range.to - 1)) {
        const auto expression = translate(part, function, at, false);
        if (!expression) return std::nullopt;
        dimensions.parts.push_back(*expression);
      }
      if (dimensions.parts.empty() || dimensions.parts.size() > 3) return std::nullopt;
      while (dimensions.parts.size() > 1 && dimensions.parts.back().text() == "1") dimensions.parts.pop_back();
      return dimensions;
    }
    if (range.to == range.from + 1 && tokens[range.from].kind == Kind::identifier) {
      const std::string_view word = tokens[range.from].text;
      if (const auto found = definition(word, function, at)) {
        at = found->from;
        range = *found;
        continue;
      }
      // dim3 grid; grid.x = …; grid.y = …;
      Dimensions dimensions;
      const TokenRange body = host_.functions[function].body;
      for (std::size_t i = body.from; i + 3 < std::min(at, body.to); ++i) {
        if (!tokens[i].is(word) || !tokens[i + 1].is(".") || !tokens[i + 3].is("=")) continue;
        const std::size_t axis = tokens[i + 2].is("x") ? 0 : tokens[i + 2].is("y") ? 1 : 2;
        std::size_t to = i + 4;
        while (to < body.to && !tokens[to].is(";")) ++to;
        const auto expression = translate({i + 4, to}, function, i, false);
        if (!expression) return std::nullopt;
        while (dimensions.parts.size() <= axis) dimensions.parts.push_back(Expression::literal(1));
        dimensions.parts[axis] = *expression;
      }
      if (!dimensions.parts.empty()) return dimensions;
    }
    const auto expression = translate(range, function, at, false);
    if (!expression) return std::nullopt;
    return Dimensions{{*expression}};
  }
  return std::nullopt;
}

}  // namespace cudal1::kernel
