// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "report/formats.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::report {

namespace {

// Text inside a table cell or a sentence: nothing in it may become markup.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n') {
      result += ' ';
    } else {
      if (c == '|' || c == '<' || c == '>' || c == '*' || c == '_' || c == '`' || c == '\\' || c == '[' || c == ']')
        result += '\\';
      result += c;
    }
  }
  return result;
}

// A fence longer than any run of backticks inside.
std::string fence_for(const std::string& text) {
  std::size_t longest = 0, run = 0;
  for (const char c : text) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
  return std::string(std::max<std::size_t>(3, longest + 1), '`');
}

struct Writer {
  std::string operator()(const Heading& heading) const {
    return fmt::format("\n{} {}\n\n", std::string(static_cast<std::size_t>(heading.level), '#'), escaped(heading.text));
  }
  std::string operator()(const Paragraph& paragraph) const {
    return paragraph.kind == Paragraph::Kind::verdict ? fmt::format("**{}**\n\n", escaped(paragraph.text))
                                                      : escaped(paragraph.text) + "\n\n";
  }
  std::string operator()(const List& list) const {
    std::string result;
    for (const auto& item : list.items) result += fmt::format("- {}\n", escaped(item));
    return result + "\n";
  }
  std::string operator()(const Table& table) const {
    std::string result = "|", rule = "|";
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      result += fmt::format(" {} |", escaped(table.columns[c]));
      rule += table.numeric[c] ? " ---: |" : " --- |";
    }
    result += "\n" + rule + "\n";
    for (const auto& row : table.rows) {
      result += "|";
      for (const auto& cell : row) result += fmt::format(" {} |", escaped(cell));
      result += "\n";
    }
    return result + "\n";
  }
  std::string operator()(const Code& code) const {
    const auto fence = fence_for(code.text);
    return fmt::format("{}{}\n{}{}{}\n\n", fence, code.language, code.text, code.text.ends_with('\n') ? "" : "\n", fence);
  }
  std::string operator()(const Quotation& quotation) const {
    std::string result;
    for (const auto& line : base::split_lines(quotation.text)) result += fmt::format("> {}\n", line);
    return result + "\n";
  }
  std::string operator()(const ScoreChart&) const { return ""; }
  std::string operator()(const Roofline&) const { return ""; }
};

}  // namespace

std::string markdown(const store::Run& run, const Style&) {
  std::string result;
  for (const auto& block : document(run, Detail::full)) result += std::visit(Writer{}, block);
  return result.substr(result.find_first_not_of('\n'));
}

}  // namespace cudal1::report
