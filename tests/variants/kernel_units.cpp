// SPDX-License-Identifier: Apache-2.0
#include "kernel_units.hpp"

#include "base/text.hpp"
#include "kernel/source_lexer.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace cudal1::variants {

namespace {

using kernel::SourceToken;
using Kind = SourceToken::Kind;
using Words = std::set<std::string_view>;

// One declaration at namespace scope.
struct Piece {
  std::string_view text;
  Words words, names;   // all identifiers; those it declares, none where the reader does not know
  bool kernel = false;
};

Words words_of(std::string_view text) {
  Words words;
  for (const SourceToken& token : kernel::lex_code(text))
    if (token.kind == Kind::identifier) words.insert(token.text);
  return words;
}

bool takes_brackets(std::string_view word) {
  static const Words words = {"__launch_bounds__", "__cluster_dims__", "alignas", "__align__", "decltype", "noexcept"};
  return words.contains(word);
}

// The names that stand in front of parameters, behind `struct`, or in front of what a variable is set to.
Words declared(const std::vector<SourceToken>& tokens, std::size_t from, std::size_t to) {
  Words names;
  bool type = false;
  std::string_view last;
  for (std::size_t i = from; i < to; ++i) {
    const SourceToken& token = tokens[i];
    if (token.is("{") || token.is("=") || token.is(";") || (type && token.is(":"))) break;
    if (token.is("template")) {
      i = kernel::after_template_list(tokens, i + 1) - 1;
    } else if (token.is("struct") || token.is("class") || token.is("union") || token.is("enum")) {
      type = true;
    } else if (token.is("(")) {
      if (!type && !takes_brackets(last)) names.insert(last);
      i = std::min(kernel::matching_bracket(tokens, i), to);
    } else if (token.kind == Kind::identifier) {
      last = token.text;
    }
  }
  if (names.empty() && !last.empty()) names.insert(last);
  return names;
}

std::vector<Piece> pieces_of(std::string_view source) {
  const std::vector<SourceToken> tokens = kernel::lex_code(source);
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < tokens.size();) {
    std::size_t end = i;
    while (end < tokens.size() && !tokens[end].is(";")) {
      const bool body = tokens[end].is("{");
      if (body || tokens[end].is("(")) end = std::min(kernel::matching_bracket(tokens, end), tokens.size() - 1);
      if (body && (end + 1 >= tokens.size() || !tokens[end + 1].is(";"))) break;
      ++end;
    }
    end = std::min(end, tokens.size() - 1);
    Piece piece;
    piece.text = source.substr(tokens[i].offset, tokens[end].end() - tokens[i].offset);
    piece.words = words_of(piece.text);
    piece.names = tokens[i].is("namespace") || tokens[i].is("using") ? Words() : declared(tokens, i, end);
    piece.kernel = piece.words.contains("__global__");
    pieces.push_back(std::move(piece));
    i = end + 1;
  }
  return pieces;
}

bool shares(const Words& a, const Words& b) {
  return std::any_of(a.begin(), a.end(), [&](std::string_view word) { return b.contains(word); });
}

// The piece's own text and what it can reach, in the order of the file.
void reach(const std::vector<Piece>& pieces, std::size_t from, std::set<std::size_t>& reached) {
  if (!reached.insert(from).second) return;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (!pieces[i].kernel && (pieces[i].names.empty() || shares(pieces[from].words, pieces[i].names))) reach(pieces, i, reached);
}

}  // namespace

KernelUnits::KernelUnits(const kernel::File& file) {
  const std::vector<Piece> pieces = pieces_of(file.source);
  const std::string directives = kernel::print(file);
  std::vector<std::string_view> launches, scratches;
  for (const std::string& line : base::split_lines(directives)) {
    const std::size_t begin = directives.find(line) + 3;
    const std::string_view text = std::string_view(directives).substr(begin, line.size() - 3);
    if (text.starts_with(" scratch")) scratches.push_back(text);
    else if (text.starts_with(" launch") || text.starts_with(" memset") || text.starts_with(" repeat")) launches.push_back(text);
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!pieces[i].kernel) continue;
    std::set<std::size_t> reached;
    reach(pieces, i, reached);
    std::string unit;
    Words words;
    const auto take = [&](std::string_view text, const Words& its) {
      unit += std::string(text) + "\n";
      words.insert(its.begin(), its.end());
    };
    for (const std::size_t piece : reached) take(pieces[piece].text, pieces[piece].words);
    Words launched;
    for (const std::string_view line : launches)
      if (const Words its = words_of(line); shares(its, pieces[i].names)) take(line, its), launched.insert(its.begin(), its.end());
    for (const std::string_view line : scratches)
      if (const Words its = words_of(line); shares(its, launched)) take(line, its);
    units_.push_back({std::move(unit), {words.begin(), words.end()}});
  }
}

std::set<std::string> KernelUnits::of(const kernel::Environment& member) const {
  std::set<std::string> result;
  for (const auto& [text, words] : units_) {
    std::string unit = text;
    for (const auto& [name, value] : member)
      if (words.contains(name)) unit += fmt::format("{} = {}\n", name, std::get<std::int64_t>(value));
    result.insert(std::move(unit));
  }
  return result;
}

}  // namespace cudal1::variants
