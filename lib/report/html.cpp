// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "report/formats.hpp"
#include "report/html_text.hpp"

#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace cudal1::report {

std::optional<std::string_view> embedded_text(std::string_view name);

namespace {

std::string diff_lines(const std::string& text) {
  std::string result;
  for (const auto& line : base::split_lines(text)) {
    const char* kind = line.starts_with('+') ? "added" : line.starts_with('-') ? "removed" : "";
    result += *kind ? fmt::format("<span class=\"{}\">{}</span>\n", kind, escaped(line)) : escaped(line) + "\n";
  }
  return result;
}

// The id of a variant's entry below (html_variants.cpp), for its name as tables show it.
std::string anchor_of(const store::Run& run, std::string_view cell) {
  if (const auto best = cell.find(" (best)"); best != std::string_view::npos) cell = cell.substr(0, best);
  for (const auto& variant : run.result.variants)
    if (variant.id == cell) return variant.id;
  return "";
}

struct Writer {
  const store::Run& run;

  std::string operator()(const Heading& heading) const {
    return fmt::format("<h{0}>{1}</h{0}>\n", heading.level, escaped(heading.text));
  }
  std::string operator()(const Paragraph& paragraph) const {
    static constexpr const char* classes[] = {"", " class=\"verdict\"", " class=\"warning\""};
    return fmt::format("<p{}>{}</p>\n", classes[static_cast<int>(paragraph.kind)], escaped(paragraph.text));
  }
  std::string operator()(const List& list) const {
    std::string result = "<ul>\n";
    for (const auto& item : list.items) result += fmt::format("<li>{}</li>\n", escaped(item));
    return result + "</ul>\n";
  }
  std::string operator()(const Table& table) const {
    std::string result = "<div class=\"scroll\"><table>\n" + row(table, table.columns, "th");
    for (const auto& cells : table.rows) result += row(table, cells, "td");
    return result + "</table></div>\n";
  }
  std::string operator()(const Code& code) const {
    return fmt::format("<pre>{}</pre>\n", code.language == "diff" ? diff_lines(code.text) : escaped(code.text));
  }
  std::string operator()(const Quotation& quotation) const {
    return fmt::format("<blockquote>{}</blockquote>\n", escaped(quotation.text));
  }
  // Narrower than its labels can be read it is not drawn, but moved sideways.
  std::string operator()(const ScoreChart& chart) const { return "<div class=\"scroll\">" + draw_svg(chart) + "</div>\n"; }
  std::string operator()(const Roofline& roofline) const { return "<h2>Below which roof</h2>\n<div class=\"scroll\">" + draw_svg(roofline) + "</div>\n"; }

 private:
  std::string row(const Table& table, const std::vector<std::string>& cells, const char* tag) const {
    std::string result = "<tr>";
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string anchor = c == 0 ? anchor_of(run, cells[c]) : "", text = escaped(cells[c]);
      result += fmt::format("<{0}{1}>{2}</{0}>", tag, table.numeric[c] ? " class=\"number\"" : "", anchor.empty() ? text : fmt::format("<a href=\"#{}\">{}</a>", escaped(anchor), text));
    }
    return result + "</tr>\n";
  }
};

std::string replaced(std::string text, std::string_view hole, const std::string& value) {
  const auto at = text.find(hole);
  return at == std::string::npos ? text : text.replace(at, hole.size(), value);
}

}  // namespace

std::string html(const store::Run& run, const Style&) {
  std::string body;
  for (const auto& block : document(run, Detail::full)) body += std::visit(Writer{run}, block);
  body += variants_html(run);
  const std::string page(embedded_text("page.html").value_or(""));
  return replaced(replaced(page, "{{title}}", escaped("cudal1: " + run.identity.task_name)), "{{body}}", body);
}

}  // namespace cudal1::report
