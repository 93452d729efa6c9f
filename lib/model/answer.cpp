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

// The index of the section that a line opens. Models decorate: «### 1. **Algorithm Design**:» and «**Algorithm Design**»
// count, at any level.
std::optional<std::size_t> heading(std::string_view line) {
  const std::string_view start = base::trim(line);
  if (!start.starts_with('#') && !start.starts_with("**") && !start.starts_with("__")) return std::nullopt;
  const auto is_word = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  const auto first = std::find_if(line.begin(), line.end(), is_word);
  const auto last = std::find_if(line.rbegin(), line.rend(), is_word).base();
  if (first >= last) return std::nullopt;
  const std::string title = lower({first, last});
  for (std::size_t index = 0; index < headings.size(); ++index)
    if (title == lower(headings[index])) return index;
  return std::nullopt;
}

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + '\n';
  return std::string(base::trim(text));
}

std::vector<std::string> lines_of(std::string_view text) {
  auto lines = base::split_lines(text);
  for (auto& line : lines)
    if (line.ends_with('\r')) line.pop_back();
  return lines;
}

bool is_blank(const std::string& line) { return base::trim(line).empty(); }

// A reply that stands in one fence as a whole, «```markdown», without it. Blocks within it close the fence by the rules
// of Markdown, so what tells is that the first line and the last are fences and that something between is a heading.
std::vector<std::string> without_outer_fence(std::vector<std::string> lines) {
  auto first = std::find_if_not(lines.begin(), lines.end(), is_blank);
  const auto last = std::find_if_not(lines.rbegin(), lines.rend(), is_blank);
  if (first == lines.end() || !base::trim(*first).starts_with("```") || base::trim(*last) != "```") return lines;
  const std::string word = lower(base::trim(base::trim(*first).substr(3)));
  if (word != "markdown" && word != "md" && !word.empty() && word != "text") return lines;
  const auto end = last.base() - 1;
  if (first == end || std::none_of(first + 1, end, [](const std::string& line) { return heading(line).has_value(); })) return lines;
  return {first + 1, end};
}

// The sections of a reply, and every line of it. What stands in front of the first heading is none.
struct Sections {
  std::array<std::vector<std::string>, 3> lines;
  std::array<bool, 3> found{};
};

Sections split(const std::vector<std::string>& lines) {
  Sections sections;
  Fences fences;
  std::optional<std::size_t> current;
  for (const auto& line : lines) {
    const bool outside = fences.feed(line) == Fences::Line::outside;
    if (const auto index = outside ? heading(line) : std::nullopt) {
      // A heading that comes again goes on with a new draft of that section.
      if (sections.found[*index]) sections.lines[*index].clear();
      current = index;
      sections.found[*index] = true;
      continue;
    }
    if (current) sections.lines[*current].push_back(line);
  }
  return sections;
}

struct Blocks {
  std::vector<std::string> closed;
  bool open = false;  // the last one is not closed
  std::size_t first_line = 0;
};

Blocks blocks_of(const std::vector<std::string>& lines) {
  Fences fences;
  Blocks blocks;
  std::string current;
  blocks.first_line = lines.size();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    switch (fences.feed(lines[i])) {
      case Fences::Line::outside: break;
      case Fences::Line::opens:
        current.clear();
        blocks.first_line = std::min(blocks.first_line, i);
        break;
      case Fences::Line::inside: current += lines[i] + '\n'; break;
      case Fences::Line::closes: blocks.closed.push_back(current); break;
    }
  }
  blocks.open = fences.open();
  return blocks;
}

// How much a block looks like the kernel file: one that launches, else one that has a kernel, else any.
int worth(std::string_view block) {
  if (base::trim(block).empty()) return -1;
  int worth = block.find("__global__") != std::string_view::npos ? 1 : 0;
  for (const auto& line : base::split_lines(block)) {
    std::string_view directive = base::trim(line);
    if (!directive.starts_with("//@")) continue;
    directive = base::trim(directive.substr(3));
    if (directive.starts_with("launch") || directive.starts_with("for ")) return 2;
  }
  return worth;
}

// The last of the best; a usage example behind the kernel does not count.
const std::string* best_block(const std::vector<std::string>& blocks) {
  const std::string* best = nullptr;
  for (const auto& block : blocks)
    if (worth(block) >= 0 && (best == nullptr || worth(block) >= worth(*best))) best = &block;
  return best;
}

// Code without a fence, from its first line on: a comment, a directive, a declaration, or what ends as only a statement does.
std::string bare_code(const std::vector<std::string>& lines) {
  const auto code = [](const std::string& line) {
    constexpr std::array<std::string_view, 24> beginnings = {
        "//", "/*", "#include", "#define", "#pragma", "#if", "#undef", "template", "__global__", "__device__", "__constant__", "__host__", "__managed__", "__shared__",
        "__forceinline__", "__noinline__", "extern", "using ", "constexpr", "static", "struct ", "typedef ", "namespace ", "inline "};
    const std::string_view text = base::trim(line);
    return std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view beginning) { return text.starts_with(beginning); }) ||
           text.ends_with(';') || text.ends_with('{') || text.ends_with('}');
  };
  std::string text;
  for (auto line = std::find_if(lines.begin(), lines.end(), code); line != lines.end(); ++line) text += *line + '\n';
  return worth(text) >= 1 ? text : "";
}

tl::expected<std::string, std::string> source_of(const Sections& sections, const std::vector<std::string>& lines) {
  constexpr std::size_t code = 2;
  const std::vector<std::string>& place = sections.found[code] ? sections.lines[code] : lines;
  const Blocks here = blocks_of(place), everywhere = sections.found[code] ? blocks_of(lines) : here;
  const std::string* best = best_block(here.closed);
  // A kernel elsewhere, where the section has none.
  if (const std::string* other = best_block(everywhere.closed); other != nullptr && worth(*other) >= 1 && (best == nullptr || worth(*best) < 1)) best = other;
  const std::string where = sections.found[code] ? " of «## Code Implementation»" : "";
  if (here.open && (best == nullptr || worth(*best) < 2)) return tl::make_unexpected(fmt::format("the code block{} is not closed", where));
  if (best != nullptr) return *best;
  if (!here.closed.empty()) return tl::make_unexpected(fmt::format("the code block{} is empty", where));
  if (const std::string bare = bare_code(place); !bare.empty()) return bare;
  return tl::make_unexpected(sections.found[code] ? "the section «## Code Implementation» holds no fenced code block"
                                                  : "the reply holds no code: the heading «## Code Implementation» and a fenced code block under it are missing");
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
  const auto lines = without_outer_fence(lines_of(text));
  Sections sections = split(lines);
  const auto source = source_of(sections, lines);
  if (!source) return tl::make_unexpected(source.error());
  // Without headings what stands in front of the code is the analysis.
  if (!sections.found[0] && !sections.found[1]) {
    std::vector<std::string>& analysis = sections.lines[0];
    analysis.clear();
    const std::size_t end = blocks_of(lines).first_line;
    for (std::size_t i = 0; i < std::min(end, lines.size()); ++i) {
      if (end == lines.size() && (base::trim(lines[i]).starts_with("//") || base::trim(lines[i]).starts_with("#"))) break;
      if (!heading(lines[i])) analysis.push_back(lines[i]);
    }
  }
  return Answer{text_of(sections.lines[0]), text_of(sections.lines[1]), *source, techniques(sections.lines[1].empty() ? lines : sections.lines[1])};
}

}  // namespace cudal1::model
