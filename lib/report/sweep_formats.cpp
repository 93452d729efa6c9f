// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "report/sweep.hpp"
#include "report/wording.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace cudal1::report {

namespace {

using json = nlohmann::ordered_json;
using Table = std::vector<std::vector<std::string>>;

std::string number(double value) { return value == 0 ? "-" : fmt::format("{:.3g}", value); }

// What fits a screen: each baseline over all tasks; levels and sound tasks against the best of them.
std::vector<SweepFigures> leading(const Sweep& sweep) {
  std::vector<SweepFigures> result = figures(sweep);
  if (result.empty()) return result;
  const std::string last = result.back().baseline;
  std::erase_if(result, [&](const SweepFigures& f) { return f.baseline != last && (f.level != "all" || f.aggregate != "all"); });
  return result;
}

Table summary(const std::vector<SweepFigures>& all) {
  Table table = {{"baseline", "level", "tasks", "tried", "n", "mean", "none=1", "max", "p75", "median", "p25", "success",
                  ">1.01", "geomean", "<1.00"}};
  for (const SweepFigures& f : all)
    table.push_back({f.baseline, f.level, f.aggregate, fmt::format("{}", f.tried), fmt::format("{}", f.scored), number(f.mean),
                     number(f.mean_none_is_one), number(f.max), number(f.p75), number(f.median), number(f.p25),
                     percent(f.success).empty() ? "0 %" : percent(f.success), fmt::format("{}", f.faster), number(f.geomean),
                     fmt::format("{}", f.slower)});
  return table;
}

Table fast_p(const std::vector<SweepFigures>& all) {
  Table table = {{"baseline", "level", "tasks", "fast_0", "fast_0.5", "fast_0.8", "fast_1", "fast_1.5", "fast_2"}};
  for (const SweepFigures& f : all) {
    std::vector<std::string> row = {f.baseline, f.level, f.aggregate};
    for (const auto& [p, share] : f.fast) row.push_back(fmt::format("{:.3f}", share));
    table.push_back(std::move(row));
  }
  return table;
}

// By KernelBench's own comparison.
std::string accepted(const SweepRow& row) {
  if (row.kernelbench_tolerance < 0) return "";
  return row.kernelbench_tolerance <= 1e-4 ? "accepts" : row.kernelbench_tolerance <= 1e-2 ? "accepts at 1e-2" : "rejects";
}

// A column for each baseline; `with_intervals` shows how sure each ratio is.
Table per_task(const Sweep& sweep, bool with_intervals) {
  std::set<std::string> baselines;
  for (const SweepRow& row : sweep.rows)
    for (const auto& [baseline, ratio] : row.ratios) baselines.insert(baseline);
  Table table = {{"task", "verdict"}};
  table.front().insert(table.front().end(), baselines.begin(), baselines.end());
  for (const char* column : {"limit", "KernelBench", "defects and labels", "seconds"}) table.front().emplace_back(column);
  for (const SweepRow& row : sweep.rows) {
    std::vector<std::string> remarks = row.defects;
    remarks.insert(remarks.end(), row.labels.begin(), row.labels.end());
    std::vector<std::string> cells = {row.key, row.verdict.empty() ? std::string(name(row.status)) : row.verdict};
    for (const std::string& baseline : baselines) {
      const auto found = row.ratios.find(baseline);
      cells.push_back(found == row.ratios.end()              ? ""
                      : !found->second.failed.empty()        ? "failed"
                      : with_intervals || baselines.size() == 1 ? text({found->second.value, found->second.low, found->second.high})
                                                                : ratio(found->second.value));
    }
    for (std::string cell : {percent(row.share_of_limit), accepted(row), fmt::format("{}", fmt::join(remarks, ", ")), fmt::format("{:.1f}", row.seconds)})
      cells.push_back(std::move(cell));
    table.push_back(std::move(cells));
  }
  return table;
}

// Of the tasks without a verdict: one line each.
std::string reasons(const Sweep& sweep, std::string_view bullet) {
  std::string out;
  for (const SweepRow& row : sweep.rows)
    if (row.verdict.empty()) out += fmt::format("{}{}: {}\n", bullet, row.key, row.message);
  return out.empty() ? out : out + '\n';
}

std::string aligned(const Table& table) {
  std::vector<std::size_t> widths(table.front().size());
  for (const auto& row : table)
    for (std::size_t i = 0; i + 1 < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string out;
  for (const auto& row : table) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format(" {:<{}}", row[i], i + 1 < row.size() ? widths[i] + 1 : 0);
    while (line.ends_with(' ')) line.pop_back();
    out += line + '\n';
  }
  return out;
}

std::string piped(const Table& table) {
  std::string out;
  for (std::size_t i = 0; i < table.size(); ++i) {
    std::vector<std::string> cells;
    for (std::string cell : table[i]) {
      for (std::size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2) cell.insert(at, "\\");
      cells.push_back(std::move(cell));
    }
    out += fmt::format("| {} |\n", fmt::join(cells, " | "));
    if (i != 0) continue;
    out += '|';
    for (std::size_t k = 0; k < cells.size(); ++k) out += " --- |";
    out += '\n';
  }
  return out;
}

std::string headline(const Sweep& sweep) {
  int verified = 0, sound = 0, failed = 0;
  bool predicted = false;
  for (const SweepRow& row : sweep.rows) {
    verified += row.status == SweepRow::Status::verified ? 1 : 0;
    failed += row.status == SweepRow::Status::failed ? 1 : 0;
    sound += row.defects.empty() && row.status != SweepRow::Status::failed ? 1 : 0;
    predicted = predicted || row.predicted;
  }
  return fmt::format("{} task{} on {} with {}: {} verified{}; {}. Ratios are baseline time / answer time{}", sweep.rows.size(),
                     sweep.rows.size() == 1 ? "" : "s", sweep.device, sweep.models, verified, failed == 0 ? "" : fmt::format(", {} failed", failed),
                     sound == 1 ? "1 is a sound measure" : fmt::format("{} are sound measures", sound), predicted ? ". Times are the simulator's predictions, not measurements" : "");
}

std::string terminal(const Sweep& sweep) {
  std::string out = headline(sweep) + "\n\n" + aligned(per_task(sweep, false)) + '\n' + reasons(sweep, "  ");
  if (const auto all = leading(sweep); !all.empty()) out += aligned(summary(all)) + '\n' + aligned(fast_p(all));
  for (const std::string& remark : sweep.remarks) out += '\n' + remark + '\n';
  return out;
}

std::string markdown(const Sweep& sweep) {
  std::string out = "# Sweep\n\n" + headline(sweep) + ".\n\n";
  if (const auto all = figures(sweep); !all.empty())
    out += piped(summary(all)) +
           "\n`n` counts tasks with a ratio; `none=1` counts the others as 1.00. Sound "
           "tasks are those that the task gate finds fit to be a measure.\n\n" +
           piped(fast_p(all)) + '\n';
  out += "## Tasks\n\n" + piped(per_task(sweep, true)) + '\n' + reasons(sweep, "- ");
  for (const std::string& remark : sweep.remarks) out += fmt::format("\n{}\n", remark);
  return out;
}

std::string as_json(const Sweep& sweep) {
  json rows = json::array(), summaries = json::array();
  for (const SweepRow& row : sweep.rows) rows.push_back(json::parse(to_json(row)));
  for (const SweepFigures& f : figures(sweep)) {
    json fast = json::object();
    for (const auto& [p, share] : f.fast) fast[fmt::format("{}", p)] = share;
    summaries.push_back({{"baseline", f.baseline}, {"level", f.level}, {"tasks", f.aggregate}, {"tried", f.tried},
                         {"scored", f.scored}, {"mean", f.mean}, {"mean_none_is_one", f.mean_none_is_one}, {"max", f.max},
                         {"p75", f.p75}, {"median", f.median}, {"p25", f.p25}, {"success", f.success}, {"faster", f.faster},
                         {"geomean", f.geomean}, {"slower", f.slower}, {"fast_p", fast}});
  }
  return json{{"schema", 1}, {"device", sweep.device}, {"models", sweep.models}, {"summary", summaries}, {"tasks", rows},
              {"remarks", sweep.remarks}}
             .dump(2, ' ', false, json::error_handler_t::replace) +
         "\n";
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c == '\n' ? ' ' : c);
  return out + '"';
}

// One line for each task and baseline.
std::string csv(const Sweep& sweep) {
  std::string out = "key,level,id,task,status,verdict,baseline,speedup,low,high,failed,share_of_limit,defects,kernelbench,seconds,cost_dollars\n";
  for (const SweepRow& row : sweep.rows) {
    auto ratios = row.ratios;
    if (ratios.empty()) ratios[""];
    for (const auto& [baseline, ratio] : ratios) {
      const bool timed = ratio.value > 0;
      out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{:.3f},{}\n", quoted(row.key), row.level, row.id, quoted(row.task),
                         quoted(std::string(name(row.status))), row.verdict, quoted(baseline), timed ? fmt::format("{:.6g}", ratio.value) : "",
                         timed ? fmt::format("{:.6g}", ratio.low) : "", timed ? fmt::format("{:.6g}", ratio.high) : "",
                         quoted(ratio.failed), row.share_of_limit, quoted(fmt::format("{}", fmt::join(row.defects, "; "))), accepted(row), row.seconds,
                         row.cost);
    }
  }
  return out;
}

// Each task's ratio in rising order on a logarithmic axis, one line of dots for each baseline; defective tasks hollow.
std::string svg(const Sweep& sweep) {
  constexpr double width = 720, height = 360, left = 60, right = 16, top = 34, bottom = 30;
  constexpr const char* colours[] = {"#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#d68910", "#34495e"};
  std::map<std::string, std::vector<std::pair<double, bool>>> dots;
  double low = 0.8, high = 1.25;
  for (const SweepRow& row : sweep.rows)
    for (const auto& [baseline, ratio] : row.ratios) {
      if (ratio.value <= 0) continue;
      dots[baseline].emplace_back(ratio.value, row.defects.empty());
      low = std::min(low, ratio.value / 1.1);
      high = std::max(high, ratio.value * 1.1);
    }
  const auto y = [&](double ratio) {
    return height - bottom - std::log(ratio / low) / std::log(high / low) * (height - top - bottom);
  };
  std::string out = fmt::format("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' font-family='sans-serif' font-size='11'>\n"
                                "<rect width='{0}' height='{1}' fill='white'/>\n<text x='{2}' y='16'>speed-up of each task</text>\n",
                                width, height, left);
  for (double decade = 1e-3; decade <= 1e4; decade *= 10)
    for (const double step : {1.0, 2.0, 5.0}) {
      const double value = decade * step;
      if (value < low || value > high) continue;
      out += fmt::format("<line x1='{}' x2='{}' y1='{:.1f}' y2='{:.1f}' stroke='{}'/><text x='{}' y='{:.1f}' text-anchor='end'>{}</text>\n",
                         left, width - right, y(value), y(value), value == 1 ? "#555" : "#ddd", left - 6, y(value) + 4, ratio(value));
    }
  std::size_t series = 0;
  for (auto& [baseline, values] : dots) {
    std::sort(values.begin(), values.end());
    const char* colour = colours[series % std::size(colours)];
    out += fmt::format("<text x='{}' y='{}' fill='{}'>{}</text>\n", left + 160 + 130 * static_cast<double>(series), 16, colour, baseline);
    for (std::size_t i = 0; i < values.size(); ++i)
      out += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='3' stroke='{}' fill='{}'/>\n",
                         left + (width - left - right) * (static_cast<double>(i) + 0.5) / static_cast<double>(values.size()),
                         y(values[i].first), colour, values[i].second ? colour : "none");
    ++series;
  }
  return out + "</svg>\n";
}

}  // namespace

std::vector<std::string> sweep_formats() { return {"terminal", "markdown", "json", "csv", "svg"}; }

std::string render(const Sweep& sweep, std::string_view format) {
  if (format == "terminal") return terminal(sweep);
  if (format == "markdown") return markdown(sweep);
  if (format == "json") return as_json(sweep);
  if (format == "csv") return csv(sweep);
  if (format == "svg") return svg(sweep);
  throw base::Error(base::Fault::usage, fmt::format("\"{}\" is no format of a sweep; there are {}", format, fmt::join(sweep_formats(), ", ")));
}

}  // namespace cudal1::report
