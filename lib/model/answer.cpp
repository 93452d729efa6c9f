// SPDX-License-Identifier: Apache-2.0
#include "model/answer.hpp"

#include "base/text.hpp"
#include "model/thinking.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include <fmt/format.h>

namespace cudal1::model {

namespace {

constexpr std::array<std::string_view, 3> headings = {"Performance Analysis", "Algorithm Design", "Code Implementation"};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// Follows the fenced code blocks of a Markdown text, line by line. A fence is three or more of "`" or "~", at most three
// spaces in; it is closed by one of the same character that is no shorter and has nothing behind it.
class Fences {
 public:
  enum class Line { outside, opens, inside, closes };

  Line feed(std::string_view line) {
    const auto start = std::min(line.find_first_not_of(' '), line.size());
    const char character = start < line.size() ? line[start] : ' ';
    line.remove_prefix(start);
    const auto length = std::min(line.find_first_not_of(character), line.size());
    const bool fence = start <= 3 && (character == '`' || character == '~') && length >= 3;
    if (length_ == 0) {
      if (!fence) return Line::outside;
      character_ = character;
      length_ = length;
      return Line::opens;
    }
    if (!fence || character != character_ || length < length_ || !base::trim(line.substr(length)).empty())
      return Line::inside;
    length_ = 0;
    return Line::closes;
  }
  bool open() const { return length_ > 0; }

 private:
  char character_ = ' ';
  std::size_t length_ = 0;
};

// The index of the section that a line opens. Models decorate: «## 1. **Algorithm Design**:» counts.
std::optional<std::size_t> heading(std::string_view line) {
  if (!line.starts_with("##") || line.starts_with("###")) return std::nullopt;
  const auto is_word = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  const auto first = std::find_if(line.begin(), line.end(), is_word);
  const auto last = std::find_if(line.rbegin(), line.rend(), is_word).base();
  if (first >= last) return std::nullopt;
  const std::string title = lower({first, last});
  for (std::size_t index = 0; index < headings.size(); ++index)
    if (title == lower(headings[index])) return index;
  return std::nullopt;
}

struct Section {
  bool found = false;
  std::vector<std::string> lines;
};

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + '\n';
  return std::string(base::trim(text));
}

tl::expected<std::array<Section, 3>, std::string> split(std::string_view reply) {
  std::array<Section, 3> sections;
  Fences fences;
  std::optional<std::size_t> current;
  for (auto& line : base::split_lines(reply)) {
    if (line.ends_with('\r')) line.pop_back();
    const bool outside = fences.feed(line) == Fences::Line::outside;
    if (const auto index = outside ? heading(line) : std::nullopt) {
      if (sections[*index].found)
        return tl::make_unexpected(fmt::format("the heading «## {}» appears twice", headings[*index]));
      const std::size_t expected = current ? *current + 1 : 0;
      if (*index != expected)
        return tl::make_unexpected(fmt::format("the heading «## {}» comes where «## {}» was expected", headings[*index],
                                               headings[std::min<std::size_t>(expected, 2)]));
      current = index;
      sections[*index].found = true;
      continue;
    }
    if (current) sections[*current].lines.push_back(std::move(line));
  }
  for (std::size_t index = 0; index < sections.size(); ++index)
    if (!sections[index].found)
      return tl::make_unexpected(fmt::format("the heading «## {}» is missing", headings[index]));
  return sections;
}

tl::expected<std::string, std::string> last_block(const std::vector<std::string>& lines) {
  Fences fences;
  std::optional<std::string> block;
  std::string current;
  for (const auto& line : lines) {
    switch (fences.feed(line)) {
      case Fences::Line::outside: break;
      case Fences::Line::opens: current.clear(); break;
      case Fences::Line::inside: current += line + '\n'; break;
      case Fences::Line::closes: block = current; break;
    }
  }
  if (fences.open()) return tl::make_unexpected("the code block of «## Code Implementation» is not closed");
  if (!block) return tl::make_unexpected("the section «## Code Implementation» holds no fenced code block");
  if (base::trim(*block).empty()) return tl::make_unexpected("the code block of «## Code Implementation» is empty");
  return *block;
}

// «**Techniques:** tiling, vectorised loads» anywhere in the design.
std::vector<std::string> techniques(const std::vector<std::string>& lines) {
  constexpr std::size_t most = 12, longest = 40;
  std::vector<std::string> result;
  for (const auto& line : lines) {
    std::string text = lower(line);
    std::erase_if(text, [](char c) { return c == '*' || c == '_' || c == '`'; });
    const auto begin = text.find_first_not_of(" -#>");
    if (begin == std::string::npos || text.compare(begin, 11, "techniques:") != 0) continue;
    std::string_view rest = std::string_view(text).substr(begin + 11);
    while (!rest.empty() && result.size() < most) {
      const auto comma = std::min(rest.find_first_of(",;"), rest.size());
      auto word = base::trim(rest.substr(0, comma));
      if (word.ends_with('.')) word.remove_suffix(1);
      if (!word.empty() && word.size() <= longest) result.push_back(base::printable(word));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return result;
}

}  // namespace

tl::expected<Answer, std::string> parse_answer(std::string_view reply) {
  const auto text = split_thinking(reply).answer;
  if (base::trim(text).empty())
    return tl::make_unexpected(base::trim(reply).empty() ? "the reply is empty" : "the reply holds reasoning only");
  const auto sections = split(text);
  if (!sections) return tl::make_unexpected(sections.error());
  const auto source = last_block((*sections)[2].lines);
  if (!source) return tl::make_unexpected(source.error());
  return Answer{text_of((*sections)[0].lines), text_of((*sections)[1].lines), *source, techniques((*sections)[1].lines)};
}

}  // namespace cudal1::model
