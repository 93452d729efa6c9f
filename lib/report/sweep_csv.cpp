// SPDX-License-Identifier: Apache-2.0
#include "report/sweep_files.hpp"

#include <cmath>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::report {

namespace {

// A spreadsheet takes a cell that begins like this for a formula.
bool looks_like_a_formula(std::string_view text) { return !text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos; }

std::string words(std::string_view text) {
  std::string out = "\"";
  if (looks_like_a_formula(text)) out += '\'';
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c == '\n' || c == '\r' ? ' ' : c);
  return out + '"';
}

std::string words(const std::vector<std::string>& list) { return words(fmt::format("{}", fmt::join(list, "; "))); }

std::string number(double value) { return value == 0 || !std::isfinite(value) ? "" : fmt::format("{:.6g}", value); }

}  // namespace

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
    for (const char* end : {"", " low", " high"}) header.push_back(words(baseline + end));
  for (const std::string& baseline : claims) header.push_back(words(baseline + " claimed"));
  for (const char* name : {"failed_baselines", "share_of_limit", "kernelbench_tolerance", "defects", "labels", "techniques", "answers", "right",
                           "seconds", "cost_dollars", "message"})
    header.emplace_back(name);
  std::string out = fmt::format("{}\r\n", fmt::join(header, ","));
  for (const SweepRow& row : sweep.rows) {
    std::vector<std::string> cells{words(row.key), std::to_string(row.level), std::to_string(row.id), words(row.task), words(row.device), words(row.models)};
    if (apart) cells.insert(cells.begin(), words(row.sweep));
    if (published) cells.push_back(words(row.answer));
    cells.insert(cells.end(), {words(name(row.status)), words(row.verdict), number(row.time_ms)});
    std::vector<std::string> failed;
    for (const std::string& baseline : baselines) {
      const auto found = row.ratios.find(baseline);
      const SweepRow::Ratio ratio = found == row.ratios.end() ? SweepRow::Ratio{} : found->second;
      if (!ratio.failed.empty()) failed.push_back(fmt::format("{}: {}", baseline, ratio.failed));
      cells.insert(cells.end(), {number(ratio.value), number(ratio.low), number(ratio.high)});
    }
    for (const std::string& baseline : claims) {
      const auto found = row.claimed.find(baseline);
      cells.push_back(number(found == row.claimed.end() ? 0 : found->second));
    }
    cells.insert(cells.end(), {words(failed), number(row.share_of_limit), row.kernelbench_tolerance < 0 ? "" : fmt::format("{:.3g}", row.kernelbench_tolerance),
                               words(row.defects), words(row.labels), words(row.techniques), std::to_string(row.answers), std::to_string(row.right),
                               fmt::format("{:.3f}", row.seconds), fmt::format("{:.6g}", row.cost), words(row.message)});
    out += fmt::format("{}\r\n", fmt::join(cells, ","));
  }
  return out;
}

}  // namespace cudal1::report
