// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "report/figures.hpp"
#include "report/formats.hpp"
#include "report/html_text.hpp"

#include <algorithm>
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

// Names of variants, one or several, with links to their entries below (html_variants.cpp); other text as it is.
std::string linked(const store::Run& run, const std::string& cell) {
  std::string html;
  for (std::size_t begin = 0; begin < cell.size();) {
    const std::size_t end = std::min(cell.find(", ", begin), cell.size());
    const std::string text = cell.substr(begin, end - begin);
    begin = end + 2;
    const std::string id = text.substr(0, text.find(" (best)"));
    const bool known = std::any_of(run.result.variants.begin(), run.result.variants.end(), [&](const auto& variant) { return variant.id == id; });
    if (!known) return escaped(cell);
    html += fmt::format("{}<a href=\"#{}\">{}</a>", html.empty() ? "" : ", ", escaped(id), escaped(text));
  }
  return html;
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
    std::string result = "<div class=\"scroll\" tabindex=\"0\"><table>\n" + row(table, table.columns, "th");
    for (const auto& cells : table.rows) result += row(table, cells, "td");
    return result + "</table></div>\n";
  }
  std::string operator()(const Code& code) const {
    return fmt::format("<pre tabindex=\"0\">{}</pre>\n", code.language == "diff" ? diff_lines(code.text) : escaped(code.text));
  }
  std::string operator()(const Quotation& quotation) const {
    return fmt::format("<blockquote>{}</blockquote>\n", escaped(quotation.text));
  }
  // Narrower than its labels can be read it is not drawn, but moved sideways.
  std::string operator()(const ScoreChart& chart) const { return "<div class=\"scroll\" tabindex=\"0\">" + draw_svg(chart) + "</div>\n"; }
  std::string operator()(const Roofline& roofline) const { return "<h2>Below which roof</h2>\n<div class=\"scroll\" tabindex=\"0\">" + draw_svg(roofline) + "</div>\n"; }

 private:
  std::string row(const Table& table, const std::vector<std::string>& cells, const char* tag) const {
    std::string result = "<tr>";
    for (std::size_t c = 0; c < cells.size(); ++c) {
      result += fmt::format("<{0}{1}>{2}</{0}>", tag, table.numeric[c] ? " class=\"number\"" : "", linked(run, cells[c]));
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
  body += lineage_html(run) + tunables_html(run) + time_line_html(run) + variants_html(run);
  const std::string page(embedded_text("page.html").value_or(""));
  return replaced(replaced(page, "{{title}}", escaped("cudal1: " + run.identity.task_name)), "{{body}}", body);
}

}  // namespace cudal1::report
