// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "report/sweep.hpp"
#include "report/sweep_files.hpp"
#include "report/wording.hpp"

#include <algorithm>
#include <map>
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
  std::map<std::string, std::string> last;   // baseline of each sweep
  for (const SweepFigures& f : result) last[f.sweep] = f.baseline;
  std::erase_if(result, [&](const SweepFigures& f) { return f.baseline != last[f.sweep] && (f.level != "all" || f.aggregate != "all"); });
  return result;
}

// A first column that tells several sweeps apart; none where there is one.
template <typename Figures>
Table told_apart(Table table, const std::vector<Figures>& all) {
  if (std::all_of(all.begin(), all.end(), [](const auto& f) { return f.sweep.empty(); })) return table;
  table.front().insert(table.front().begin(), "sweep");
  for (std::size_t i = 0; i < all.size(); ++i) table[i + 1].insert(table[i + 1].begin(), all[i].sweep);
  return table;
}

Table summary(const std::vector<SweepFigures>& all) {
  Table table = {{"baseline", "level", "tasks", "tried", "n", "mean", "none=1", "max", "p75", "median", "p25", "success",
                  ">1.01", "geomean", "<1.00", "limit"}};
  for (const SweepFigures& f : all)
    table.push_back({f.baseline, f.level, f.aggregate, fmt::format("{}", f.tried), fmt::format("{}", f.scored), number(f.mean),
                     number(f.mean_none_is_one), number(f.max), number(f.p75), number(f.median), number(f.p25),
                     percent(f.success).empty() ? "0 %" : percent(f.success), fmt::format("{}", f.faster), number(f.geomean),
                     fmt::format("{}", f.slower), percent(f.share_of_limit)});
  return told_apart(std::move(table), all);
}

Table fast_p(const std::vector<SweepFigures>& all) {
  Table table = {{"baseline", "level", "tasks", "fast_0", "fast_0.5", "fast_0.8", "fast_1", "fast_1.5", "fast_2"}};
  for (const SweepFigures& f : all) {
    std::vector<std::string> row = {f.baseline, f.level, f.aggregate};
    for (const auto& [p, share] : f.fast) row.push_back(fmt::format("{:.3f}", share));
    table.push_back(std::move(row));
  }
  return told_apart(std::move(table), all);
}

Table techniques(const std::vector<TechniqueFigures>& all) {
  Table table = {{"technique", "answers", "right", "gain", "winners", "geomean"}};
  for (const TechniqueFigures& f : all)
    table.push_back({f.technique, fmt::format("{}", f.answers), f.answers == 0 ? "-" : fmt::format("{:.0f} %", 100.0 * f.right / f.answers),
                     f.timed == 0 ? "-" : number(f.gain), fmt::format("{}", f.winners), f.winners == 0 ? "-" : number(f.geomean)});
  return told_apart(std::move(table), all);
}

Table models(const std::vector<ModelFigures>& all) {
  Table table = {{"model", "tasks", "answers", "right", "winners", "geomean"}};
  for (const ModelFigures& f : all)
    table.push_back({f.model, fmt::format("{}", f.tasks), fmt::format("{}", f.answers), fmt::format("{}", f.right), fmt::format("{}", f.won), number(f.geomean)});
  return told_apart(std::move(table), all);
}

Table published(const std::vector<AnswerFigures>& all) {
  Table table = {{"level", "tasks", "entries", "no code", "not judged", "failed", "wrong", "right", "at 1e-2", "at 1e-4", "timed", "claimed", "measured"}};
  for (const AnswerFigures& f : all) {
    std::vector<std::string> cells{f.level, f.aggregate};
    for (const int count : {f.entries, f.without_code, f.not_judged, f.failed, f.wrong, f.right, f.at_two, f.at_four, f.timed}) cells.push_back(fmt::format("{}", count));
    cells.push_back(number(f.claimed));
    cells.push_back(number(f.measured));
    table.push_back(std::move(cells));
  }
  return told_apart(std::move(table), all);
}

// By KernelBench's own comparison.
std::string accepted(const SweepRow& row) {
  if (row.kernelbench_tolerance < 0) return "";
  return row.kernelbench_tolerance <= 1e-4 ? "accepts" : row.kernelbench_tolerance <= 1e-2 ? "accepts at 1e-2" : "rejects";
}

// A column for each baseline; `with_intervals` shows how sure each ratio is.
Table per_task(const Sweep& sweep, bool with_intervals) {
  std::set<std::string> baselines, claims;
  for (const SweepRow& row : sweep.rows) {
    for (const auto& [baseline, ratio] : row.ratios) baselines.insert(baseline);
    for (const auto& [baseline, value] : row.claimed) claims.insert(baseline);
  }
  if (!with_intervals && claims.contains("eager")) claims = {"eager"};   // a screen is narrow
  Table table = {{"task", "verdict"}};
  for (const std::string& baseline : claims) table.front().push_back(baseline + " claimed");
  table.front().insert(table.front().end(), baselines.begin(), baselines.end());
  for (const char* column : {"limit", "KernelBench", "defects and labels", "seconds"}) table.front().emplace_back(column);
  for (const SweepRow& row : sweep.rows) {
    std::vector<std::string> remarks = row.defects;
    remarks.insert(remarks.end(), row.labels.begin(), row.labels.end());
    remarks.insert(remarks.end(), row.remarks.begin(), row.remarks.end());
    std::vector<std::string> cells = {row.key, row.verdict.empty() ? std::string(name(row.status)) : row.verdict};
    for (const std::string& baseline : claims) cells.push_back(row.claimed.contains(baseline) ? ratio(row.claimed.at(baseline)) : "");
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
  return told_apart(std::move(table), sweep.rows);
}

// Of the tasks without a right answer: one line each.
std::string reasons(const Sweep& sweep, std::string_view bullet) {
  std::string out;
  for (const SweepRow& row : sweep.rows)
    if (row.status != SweepRow::Status::verified && row.status != SweepRow::Status::no_answer)
      out += fmt::format("{}{}{}: {}\n", bullet, row.sweep.empty() ? "" : row.sweep + ": ", row.key, row.message);
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

// "123 tasks on H200 with builtin: 100 verified, 3 failed; 90 are sound measures"
std::string headline(const Sweep& sweep, std::string_view label) {
  int tried = 0, verified = 0, sound = 0, failed = 0, published = 0;
  std::set<std::string> devices, models;
  for (const SweepRow& row : sweep.rows) {
    if (row.sweep != label) continue;
    ++tried;
    verified += row.status == SweepRow::Status::verified ? 1 : 0;
    failed += row.status == SweepRow::Status::failed ? 1 : 0;
    sound += row.defects.empty() && row.status != SweepRow::Status::failed ? 1 : 0;
    published += row.answer.empty() ? 0 : 1;
    if (!row.device.empty()) devices.insert(row.device);
    if (!row.models.empty()) models.insert(row.models);
  }
  if (devices.empty()) devices.insert(sweep.device);
  if (models.empty()) models.insert(sweep.models);
  return fmt::format("{} {}{} on {} with {}: {} {}{}; {}", tried, published > 0 ? "published answer" : "task", tried == 1 ? "" : "s", fmt::join(devices, ", "),
                     fmt::join(models, "; "), verified, published > 0 ? "right" : "verified", failed == 0 ? "" : fmt::format(", {} failed", failed),
                     sound == 1 ? "1 is a sound measure" : fmt::format("{} are sound measures", sound));
}

std::string headlines(const Sweep& sweep) {
  std::set<std::string> labels;
  bool predicted = false;
  for (const SweepRow& row : sweep.rows) {
    labels.insert(row.sweep);
    predicted = predicted || row.predicted;
  }
  if (labels.empty()) labels.insert("");
  std::vector<std::string> lines;
  for (const std::string& label : labels) lines.push_back(headline(sweep, label));
  return fmt::format("{}. Ratios are baseline time / answer time{}", fmt::join(lines, ".\n"), predicted ? ". Times are the simulator's predictions, not measurements" : "");
}

std::string terminal(const Sweep& sweep) {
  std::string out = headlines(sweep) + "\n\n" + aligned(per_task(sweep, false)) + '\n' + reasons(sweep, "  ");
  if (const auto all = leading(sweep); !all.empty()) out += aligned(summary(all)) + '\n' + aligned(fast_p(all));
  if (const auto all = technique_figures(sweep); !all.empty()) out += '\n' + aligned(techniques(all));
  if (const auto all = model_figures(sweep); all.size() > 1) out += '\n' + aligned(models(all));
  if (const auto all = answer_figures(sweep); !all.empty()) out += '\n' + aligned(published(all));
  for (const std::string& remark : sweep.remarks) out += '\n' + remark + '\n';
  return out;
}

std::string markdown(const Sweep& sweep) {
  std::string out = "# Sweep\n\n" + headlines(sweep) + ".\n\n";
  if (const auto all = answer_figures(sweep); !all.empty())
    out += piped(published(all)) +
           "\n`right` is by our rule, `at 1e-2` and `at 1e-4` by KernelBench's comparison; `claimed` and `measured` are geometric means against eager of those "
           "that are right and `timed`.\n\n";
  if (const auto all = figures(sweep); !all.empty())
    out += piped(summary(all)) +
           "\n`n` counts tasks with a ratio; `none=1` counts the others as 1.00; `limit` is the median share of the speed of light. Sound "
           "tasks are those that the task gate finds fit to be a measure.\n\n" +
           piped(fast_p(all)) + '\n';
  if (const auto all = technique_figures(sweep); !all.empty()) out += "## Techniques\n\n" + piped(techniques(all)) +
           "\n`answers` counts judged answers that name the technique, `right` the share of them that is right. `gain` is the geometric mean of their "
           "score over the best score that their prompts showed, or over 1. `winners` and `geomean` are of the tasks' best answers.\n\n";
  if (const auto all = model_figures(sweep); !all.empty()) out += "## Models\n\n" + piped(models(all)) + '\n';
  out += "## Tasks\n\n" + piped(per_task(sweep, true)) + '\n' + reasons(sweep, "- ");
  for (const std::string& remark : sweep.remarks) out += fmt::format("\n{}\n", remark);
  return out;
}

// Every row of figures names its sweep where there are several.
json told(std::string_view sweep, json figures) {
  if (!sweep.empty()) figures["sweep"] = sweep;
  return figures;
}

std::string as_json(const Sweep& sweep) {
  json rows = json::array(), summaries = json::array(), used = json::array(), asked = json::array(), answers = json::array();
  for (const SweepRow& row : sweep.rows) rows.push_back(json::parse(to_json(row)));
  for (const SweepFigures& f : figures(sweep)) {
    json fast = json::object();
    for (const auto& [p, share] : f.fast) fast[fmt::format("{}", p)] = share;
    summaries.push_back(told(f.sweep, {{"baseline", f.baseline}, {"level", f.level}, {"tasks", f.aggregate}, {"tried", f.tried},
                                       {"scored", f.scored}, {"mean", f.mean}, {"mean_none_is_one", f.mean_none_is_one}, {"max", f.max},
                                       {"p75", f.p75}, {"median", f.median}, {"p25", f.p25}, {"success", f.success}, {"faster", f.faster},
                                       {"geomean", f.geomean}, {"slower", f.slower}, {"share_of_limit", f.share_of_limit}, {"fast_p", fast}}));
  }
  for (const TechniqueFigures& f : technique_figures(sweep))
    used.push_back(told(f.sweep, {{"technique", f.technique}, {"answers", f.answers}, {"right", f.right}, {"timed", f.timed}, {"gain", f.gain}, {"winners", f.winners}, {"geomean", f.geomean}}));
  for (const ModelFigures& f : model_figures(sweep))
    asked.push_back(told(f.sweep, {{"model", f.model}, {"tasks", f.tasks}, {"answers", f.answers}, {"right", f.right}, {"winners", f.won},
                                   {"geomean", f.geomean}}));
  for (const AnswerFigures& f : answer_figures(sweep))
    answers.push_back(told(f.sweep, {{"level", f.level}, {"tasks", f.aggregate}, {"entries", f.entries}, {"without_code", f.without_code},
                                     {"not_judged", f.not_judged}, {"failed", f.failed}, {"wrong", f.wrong}, {"right", f.right}, {"at_1e-2", f.at_two},
                                     {"at_1e-4", f.at_four}, {"timed", f.timed}, {"claimed", f.claimed}, {"measured", f.measured}}));
  json result = {{"schema", 1}, {"device", sweep.device}, {"models", sweep.models}, {"summary", summaries}, {"techniques", used}, {"by_model", asked},
                 {"tasks", rows}, {"remarks", sweep.remarks}};
  if (!answers.empty()) result["published"] = answers;
  return result.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace

std::vector<std::string> sweep_formats() { return {"terminal", "markdown", "json", "csv", "svg"}; }

std::string render(const Sweep& sweep, std::string_view format) {
  if (format == "terminal") return terminal(sweep);
  if (format == "markdown") return markdown(sweep);
  if (format == "json") return as_json(sweep);
  if (format == "csv") return sweep_csv(sweep);
  if (format == "svg") return sweep_chart(sweep);
  throw base::Error(base::Fault::usage, fmt::format("\"{}\" is no format of a sweep; there are {}", format, fmt::join(sweep_formats(), ", ")));
}

}  // namespace cudal1::report
