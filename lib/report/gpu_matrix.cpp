// SPDX-License-Identifier: Apache-2.0
#include "report/gpu_matrix.hpp"

#include "base/text.hpp"
#include "report/formats.hpp"
#include "report/wording.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::report {

namespace {

std::string how(const GpuRow& row) {
  return row.measured ? "measured" : row.compared ? "predicted" : "predicted, not measured";
}

std::string brief(const outcome::Judgement& judgement) {
  return outcome::is_right(judgement.verdict) && judgement.speedup ? text(*judgement.speedup) : verdict(judgement);
}

// Speed-ups alone.
Table side_by_side(const std::vector<GpuRow>& rows, const std::vector<std::string>& variants) {
  Table table{{"GPU"}, {}, {false}};
  for (const auto& variant : variants) table.columns.push_back(variant), table.numeric.push_back(true);
  for (const auto& row : rows) {
    std::vector<std::string> cells{row.gpu};
    for (const auto& named : row.judgements) cells.push_back(brief(named.judgement));
    cells.resize(table.columns.size());
    table.rows.push_back(std::move(cells));
  }
  return table;
}

void append_row(const GpuRow& row, std::size_t variant, Table& table) {
  if (variant >= row.judgements.size()) {
    table.rows.push_back({row.gpu, row.capability, "", "", "", "", "", base::printable(row.problem)});
    return;
  }
  const auto& judgement = row.judgements[variant].judgement;
  if (judgement.workloads.empty())
    table.rows.push_back({row.gpu, row.capability, how(row), "", "", verdict(judgement), "", base::printable(judgement.message)});
  for (const auto& timing : judgement.workloads)
    table.rows.push_back({row.gpu, row.capability, how(row), timing.reference_ms > 0 ? milliseconds(timing.reference_ms) : "", milliseconds(timing.variant_ms), text(timing.speedup),
                          percent(timing.share_of_limit), timing.limited_by + (judgement.workloads.size() > 1 ? "; " + sizes(timing.sizes) : "")});
}

}  // namespace

std::string gpu_matrix(const std::vector<GpuRow>& rows, const Style& style) {
  Document document;
  std::vector<std::string> variants;
  for (const auto& row : rows)
    if (variants.size() < row.judgements.size()) {
      variants.clear();
      for (const auto& named : row.judgements) variants.push_back(named.name);
    }
  if (variants.size() > 1) document.push_back(side_by_side(rows, variants));
  for (std::size_t v = 0; v < std::max<std::size_t>(variants.size(), 1); ++v) {
    Table table{{"GPU", "cc", "times", "reference", "variant", "speed-up", "of limit", "limited by"}, {}, {false, false, false, true, true, true, true, false}};
    for (const auto& row : rows) append_row(row, v, table);
    if (v < variants.size()) document.push_back(Heading{2, variants[v]});
    document.push_back(std::move(table));
  }
  const bool wide = std::any_of(rows.begin(), rows.end(), [](const GpuRow& row) { return row.problem.empty() && !row.measured && !row.compared; });
  if (wide)
    document.push_back(Paragraph{"\"Not measured\": no time was ever measured on that GPU. Its predictions rest on the datasheet, and their intervals are wider."});
  return draw_for_terminal(document, style);
}

}  // namespace cudal1::report
