// SPDX-License-Identifier: Apache-2.0
#include "report/csv_cell.hpp"
#include "report/sweep_files.hpp"

#include <cmath>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::report {

std::string sweep_csv(const Sweep& sweep) {
  std::set<std::string> baselines, claims;
  bool apart = false, published = false;
  for (const SweepRow& row : sweep.rows) {
    for (const auto& [baseline, ratio] : row.ratios) baselines.insert(baseline);
    for (const auto& [baseline, value] : row.claimed) claims.insert(baseline);
    apart = apart || !row.sweep.empty();
    published = published || !row.answer.empty();
  }
  std::vector<std::string> header{"key", "level", "id", "task", "device", "models"};
  if (apart) header.insert(header.begin(), "sweep");
  if (published) header.emplace_back("answer");
  for (const char* name : {"status", "verdict", "time_ms"}) header.emplace_back(name);
  for (const std::string& baseline : baselines)
    for (const char* end : {"", " low", " high"}) header.push_back(csv_words(baseline + end));
  for (const std::string& baseline : claims) header.push_back(csv_words(baseline + " claimed"));
  for (const char* name : {"failed_baselines", "share_of_limit", "kernelbench_tolerance", "defects", "labels", "techniques", "answers", "right",
                           "seconds", "cost_dollars", "message"})
    header.emplace_back(name);
  std::string out = fmt::format("{}\r\n", fmt::join(header, ","));
  for (const SweepRow& row : sweep.rows) {
    std::vector<std::string> cells{csv_words(row.key), std::to_string(row.level), std::to_string(row.id), csv_words(row.task), csv_words(row.device), csv_words(row.models)};
    if (apart) cells.insert(cells.begin(), csv_words(row.sweep));
    if (published) cells.push_back(csv_words(row.answer));
    cells.insert(cells.end(), {csv_words(name(row.status)), csv_words(row.verdict), csv_number(row.time_ms)});
    std::vector<std::string> failed;
    for (const std::string& baseline : baselines) {
      const auto found = row.ratios.find(baseline);
      const SweepRow::Ratio ratio = found == row.ratios.end() ? SweepRow::Ratio{} : found->second;
      if (!ratio.failed.empty()) failed.push_back(fmt::format("{}: {}", baseline, ratio.failed));
      cells.insert(cells.end(), {csv_number(ratio.value), csv_number(ratio.low), csv_number(ratio.high)});
    }
    for (const std::string& baseline : claims) {
      const auto found = row.claimed.find(baseline);
      cells.push_back(csv_number(found == row.claimed.end() ? 0 : found->second));
    }
    cells.insert(cells.end(), {csv_words(failed), csv_number(row.share_of_limit), row.kernelbench_tolerance < 0 ? "" : fmt::format("{:.3g}", row.kernelbench_tolerance),
                               csv_words(row.defects), csv_words(row.labels), csv_words(row.techniques), std::to_string(row.answers), std::to_string(row.right),
                               fmt::format("{:.3f}", row.seconds), fmt::format("{:.6g}", row.cost), csv_words(row.message)});
    out += fmt::format("{}\r\n", fmt::join(cells, ","));
  }
  return out;
}

}  // namespace cudal1::report
