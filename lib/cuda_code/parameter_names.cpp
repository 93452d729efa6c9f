// SPDX-License-Identifier: Apache-2.0
#include "cuda_code/parameter_names.hpp"

#include <map>
#include <set>
#include <unordered_set>

namespace cudal1::cuda_code {
namespace {

constexpr char mark = '\1';  // on both sides of a name; in no CUDA source

bool in_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == mark; }

// A word of the code, or what stands between two words.
struct Piece {
  std::string_view text;
  bool word, comment;
};

std::vector<Piece> pieces_of(std::string_view code) {
  std::vector<Piece> pieces;
  bool comment = false;
  for (std::size_t i = 0, end = 0; i < code.size(); i = end) {
    const bool letters = in_word(code[i]);
    for (end = i; end < code.size() && in_word(code[end]) == letters; ++end) {
      if (code[end] == '\n') comment = false;
      else if (code.compare(end, 2, "//") == 0) comment = true;
    }
    pieces.push_back({code.substr(i, end - i), letters && (code[i] < '0' || code[i] > '9'), comment});
  }
  return pieces;
}

}  // namespace

std::string marked(const std::string& parameter) { return mark + parameter + mark; }

std::vector<std::pair<std::string_view, bool>> words_of(std::string_view code) {
  std::vector<std::pair<std::string_view, bool>> words;
  for (const Piece& piece : pieces_of(code)) words.emplace_back(piece.text, piece.word);
  return words;
}

std::optional<MarkedWord> parts_of(std::string_view word) {
  const std::size_t open = word.find(mark), close = word.find(mark, open + 1);
  if (open == std::string_view::npos) return std::nullopt;
  return MarkedWord{std::string(word.substr(0, open)), std::string(word.substr(open + 1, close - open - 1)), std::string(word.substr(close + 1))};
}

std::string without_marks(const std::string& code) {
  const std::vector<Piece> pieces = pieces_of(code);
  const auto is_marked = [](const Piece& piece) { return piece.word && piece.text.find(mark) != std::string_view::npos; };
  std::unordered_set<std::string_view> plain;
  std::set<std::string_view> with_marks;
  for (const Piece& piece : pieces) {
    if (is_marked(piece)) with_marks.insert(piece.text);
    else if (piece.word && !piece.comment) plain.insert(piece.text);
  }
  std::map<std::string, std::string> spellings;
  const auto spelt = [&](std::string_view word) {
    const MarkedWord parts = *parts_of(word);
    const auto found = spellings.find(parts.parameter);
    return parts.front + (found == spellings.end() ? parts.parameter : found->second) + parts.back;
  };
  for (bool clash = true; clash;) {
    clash = false;
    std::set<std::string> taken;
    for (const std::string_view word : with_marks) {
      const std::string spelling = spelt(word);
      if (plain.count(spelling) == 0 && taken.insert(spelling).second) continue;
      const std::string parameter = parts_of(word)->parameter;
      spellings[parameter] = spellings.emplace(parameter, parameter).first->second + "_";
      clash = true;
      break;
    }
  }
  std::string result;
  for (const Piece& piece : pieces) {
    if (is_marked(piece)) result += spelt(piece.text);
    else result += piece.text;
  }
  return result;
}

}  // namespace cudal1::cuda_code
