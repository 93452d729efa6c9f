// SPDX-License-Identifier: Apache-2.0
#include "base/display.hpp"
#include "base/text.hpp"
#include "report/formats.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace cudal1::report {

namespace {

std::string clipped(const std::string& text, std::size_t width) {
  if (base::display_width(text) <= width) return text;
  return std::string(base::fitted(text, width == 0 ? 0 : width - 1)) + "…";
}

class Painter {
 public:
  explicit Painter(const Style& style) : style_(style) {}

  std::string operator()(const Heading& heading) const { return fmt::format("\n{}\n", paint(heading.text, "1")); }

  std::string operator()(const Paragraph& paragraph) const {
    static constexpr const char* colours[] = {"", "1;32", "33"};
    return paint(paragraph.text, colours[static_cast<int>(paragraph.kind)]) + "\n";
  }

  std::string operator()(const List& list) const {
    std::string result;
    for (const auto& item : list.items) result += fmt::format("  {}\n", item);
    return result;
  }

  // What a line has no room for stands under it: the last columns that are words.
  std::string operator()(const Table& table) const {
    Table main = table;
    std::size_t below = 0;
    while (taken(main) > room() && main.columns.size() > 2 && !main.numeric.back()) {
      ++below;
      main.columns.pop_back();
      main.numeric.pop_back();
    }
    if (taken(main) > room()) main = table, below = 0;
    for (auto& row : main.rows) row.resize(main.columns.size());
    const auto widths = column_widths(main);
    std::string result = "\n" + line(main.columns, main, widths, "2");
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      result += line(main.rows[r], main, widths, "");
      for (std::size_t c = table.columns.size() - below; c < table.columns.size(); ++c)
        if (!table.rows[r][c].empty()) result += wrapped(table.columns[c] + ": " + table.rows[r][c]);
    }
    return result + "\n";
  }

  std::string operator()(const Code& code) const { return indented(code.text); }
  std::string operator()(const Quotation& quotation) const { return indented(quotation.text); }
  std::string operator()(const ScoreChart&) const { return ""; }
  std::string operator()(const Roofline&) const { return ""; }

 private:
  std::string paint(const std::string& text, const char* colour) const {
    return style_.colour && *colour ? fmt::format("\x1b[{}m{}\x1b[0m", colour, text) : text;
  }

  static std::string indented(const std::string& text) {
    std::string result;
    for (const auto& row : base::split_lines(text)) result += fmt::format("    {}\n", row);
    return result;
  }

  static constexpr std::size_t least = 24;  // of a column of words
  std::size_t room() const { return style_.width > 0 ? static_cast<std::size_t>(style_.width) : std::string::npos; }

  // Columns of the terminal that a table takes at least.
  static std::size_t taken(const Table& table) {
    std::size_t sum = 0;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      std::size_t width = base::display_width(table.columns[c]);
      for (const auto& row : table.rows) width = std::max(width, base::display_width(row[c]));
      sum += 2 + (table.numeric[c] ? width : std::min(width, least));
    }
    return sum;
  }

  // Words in lines of the terminal's width, indented.
  std::string wrapped(const std::string& text) const {
    std::string result, row;
    for (std::string_view rest = base::trim(text); !rest.empty();) {
      const std::string word(rest.substr(0, rest.find(' ')));
      rest = base::trim(rest.substr(word.size()));
      if (!row.empty() && 7 + base::display_width(row) + base::display_width(word) > room()) {
        result += fmt::format("      {}\n", row);
        row.clear();
      }
      row += (row.empty() ? "" : " ") + word;
    }
    return result + fmt::format("      {}\n", row);
  }

  // As much as each column needs; where that is more than the terminal has, the widest texts are cut first.
  std::vector<std::size_t> column_widths(const Table& table) const {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      std::size_t width = base::display_width(table.columns[c]);
      for (const auto& row : table.rows) width = std::max(width, base::display_width(row[c]));
      widths.push_back(width);
    }
    if (style_.width <= 0) return widths;
    for (std::size_t sum = std::accumulate(widths.begin(), widths.end(), 2 * widths.size()); sum > room(); --sum) {
      std::size_t* widest = nullptr;
      for (std::size_t c = 0; c < widths.size(); ++c)
        if (!table.numeric[c] && widths[c] > least && (widest == nullptr || widths[c] > *widest)) widest = &widths[c];
      if (widest == nullptr) break;
      --*widest;
    }
    return widths;
  }

  std::string line(const std::vector<std::string>& cells, const Table& table, const std::vector<std::size_t>& widths,
                   const char* colour) const {
    std::string result;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string cell = clipped(cells[c], widths[c]);
      const std::string space(widths[c] - base::display_width(cell), ' ');
      result += "  " + (table.numeric[c] ? space + cell : cell + space);
    }
    while (!result.empty() && result.back() == ' ') result.pop_back();
    return paint(result, colour) + "\n";
  }

  const Style& style_;
};

}  // namespace

std::string draw_for_terminal(const Document& document, const Style& style) {
  std::string result;
  for (const auto& block : document) {
    const std::string text = std::visit(Painter(style), block);
    // What ends with an empty line and what begins with one stand one line apart.
    result += result.ends_with("\n\n") && text.starts_with('\n') ? text.substr(1) : text;
  }
  return result;
}

std::string terminal(const store::Run& run, const Style& style) {
  return draw_for_terminal(document(run, Detail::brief), style);
}

}  // namespace cudal1::report
