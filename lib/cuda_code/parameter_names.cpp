// SPDX-License-Identifier: Apache-2.0
#include "cuda_code/parameter_names.hpp"

#include <cctype>
#include <map>
#include <set>

namespace cudal1::cuda_code {
namespace {

constexpr char mark = '\1';  // on both sides of a name; in no CUDA source

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == mark; }

// Calls `word` with every word of the code (and whether a comment has it) and `other` with what stands between words.
template <typename Word, typename Other>
void walk(const std::string& code, Word word, Other other) {
  bool comment = false;
  for (std::size_t i = 0, end = 0; i < code.size(); i = end) {
    end = i + 1;
    if (code[i] == '\n') comment = false;
    if (code.compare(i, 2, "//") == 0) comment = true;
    if (in_word(code[i]))
      while (end < code.size() && in_word(code[end])) ++end;
    if (in_word(code[i]) && !std::isdigit(static_cast<unsigned char>(code[i]))) word(code.substr(i, end - i), comment);
    else other(code.substr(i, end - i));
  }
}

// A word in three parts, the marked one without its marks.
struct Parts {
  std::string front, parameter, back;
};

Parts parts_of(const std::string& word) {
  const std::size_t open = word.find(mark);
  if (open == std::string::npos) return {word, "", ""};
  const std::size_t close = word.find(mark, open + 1);
  return {word.substr(0, open), word.substr(open + 1, close - open - 1), word.substr(close + 1)};
}

}  // namespace

std::string marked(const std::string& parameter) { return mark + parameter + mark; }

std::string without_marks(const std::string& code) {
  std::set<std::string> plain, with_marks;
  walk(
      code,
      [&](const std::string& word, bool comment) {
        if (word.find(mark) != std::string::npos) with_marks.insert(word);
        else if (!comment) plain.insert(word);
      },
      [](const std::string&) {});
  std::map<std::string, std::string> spellings;
  const auto spelt = [&](const std::string& word) {
    const Parts parts = parts_of(word);
    const auto found = spellings.find(parts.parameter);
    return parts.front + (found == spellings.end() ? parts.parameter : found->second) + parts.back;
  };
  for (bool clash = true; clash;) {
    clash = false;
    std::set<std::string> taken = plain;
    for (const std::string& word : with_marks) {
      if (taken.insert(spelt(word)).second) continue;
      const std::string parameter = parts_of(word).parameter;
      spellings[parameter] = spellings.emplace(parameter, parameter).first->second + "_";
      clash = true;
      break;
    }
  }
  std::string result;
  walk(
      code, [&](const std::string& word, bool) { result += spelt(word); },
      [&](const std::string& text) { result += text; });
  return result;
}

}  // namespace cudal1::cuda_code
