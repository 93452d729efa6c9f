// SPDX-License-Identifier: Apache-2.0
#include "report/sweep.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::report {

namespace {

using json = nlohmann::ordered_json;
using Status = SweepRow::Status;

constexpr double thresholds[] = {0, 0.5, 0.8, 1, 1.5, 2};  // of fast_p, as KernelBench prints it
constexpr std::string_view best_baseline = "best of these";

bool sound(const SweepRow& row) { return row.defects.empty(); }

std::optional<double> ratio_of(const SweepRow& row, std::string_view baseline) {
  if (row.status != Status::verified) return std::nullopt;
  if (baseline == best_baseline) return least_ratio(row);
  const auto found = row.ratios.find(std::string(baseline));
  if (found == row.ratios.end() || !found->second.failed.empty()) return std::nullopt;
  return found->second.value;
}

// Between the order statistics, as numpy's default.
double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

SweepFigures figures_of(const std::vector<const SweepRow*>& rows, const std::string& baseline) {
  SweepFigures result;
  result.baseline = baseline;
  result.tried = static_cast<int>(rows.size());
  std::vector<double> ratios, shares;
  int verified = 0;
  for (const SweepRow* row : rows) {
    verified += row->status == Status::verified ? 1 : 0;
    if (row->status == Status::verified && row->share_of_limit > 0) shares.push_back(row->share_of_limit);
    if (const auto ratio = ratio_of(*row, baseline)) ratios.push_back(*ratio);
  }
  result.success = rows.empty() ? 0 : static_cast<double>(verified) / static_cast<double>(rows.size());
  result.scored = static_cast<int>(ratios.size());
  std::sort(shares.begin(), shares.end());
  if (!shares.empty()) result.share_of_limit = quantile(shares, 0.5);
  for (const double p : thresholds) {
    // Right is what counts at p = 0, also where this baseline has no time.
    const auto count = p == 0 ? verified : std::count_if(ratios.begin(), ratios.end(), [&](double ratio) { return ratio > p; });
    result.fast[p] = rows.empty() ? 0 : static_cast<double>(count) / static_cast<double>(rows.size());
  }
  if (ratios.empty()) return result;
  std::sort(ratios.begin(), ratios.end());
  const double sum = std::accumulate(ratios.begin(), ratios.end(), 0.0);
  const auto count = static_cast<double>(ratios.size());
  double logs = 0;
  for (const double ratio : ratios) logs += std::log(ratio);
  result.mean = sum / count;
  result.mean_none_is_one = (sum + (static_cast<double>(rows.size()) - count)) / static_cast<double>(rows.size());
  result.geomean = std::exp(logs / count);
  result.max = ratios.back();
  result.p75 = quantile(ratios, 0.75);
  result.median = quantile(ratios, 0.5);
  result.p25 = quantile(ratios, 0.25);
  result.faster = static_cast<int>(std::count_if(ratios.begin(), ratios.end(), [](double ratio) { return ratio > 1.01; }));
  result.slower = static_cast<int>(std::count_if(ratios.begin(), ratios.end(), [](double ratio) { return ratio < 1; }));
  return result;
}

// Infinity, of an output that is not finite, has no number in JSON.
json kernelbench_value(const SweepRow& row) {
  const double least = row.kernelbench_tolerance;
  if (least < 0) return nullptr;
  return {{"least_tolerance", std::isfinite(least) ? json(least) : json(nullptr)}, {"accepts_at_1e-4", least <= 1e-4}, {"accepts_at_1e-2", least <= 1e-2}};
}

json to_value(const SweepRow& row) {
  json ratios = json::object();
  for (const auto& [baseline, ratio] : row.ratios)
    ratios[baseline] = ratio.failed.empty() ? json{{"speedup", ratio.value}, {"low", ratio.low}, {"high", ratio.high}}
                                            : json{{"failed", ratio.failed}};
  json by_model = json::object();
  for (const auto& [model, share] : row.by_model)
    by_model[model] = {{"answers", share.answers}, {"right", share.right}, {"won", share.won}};
  json by_technique = json::object();
  for (const auto& [technique, use] : row.by_technique)
    by_technique[technique] = {{"answers", use.answers}, {"right", use.right}, {"timed", use.timed}, {"gain", use.gain}};
  json result = {{"key", row.key}, {"level", row.level}, {"id", row.id}, {"task", row.task}, {"digest", row.digest},
                 {"device", row.device}, {"models", row.models}, {"status", name(row.status)}, {"message", row.message},
                 {"defects", row.defects}, {"verdict", row.verdict}, {"labels", row.labels}, {"techniques", row.techniques},
                 {"predicted", row.predicted}, {"ratios", ratios}, {"share_of_limit", row.share_of_limit}, {"time_ms", row.time_ms},
                 {"kernelbench", kernelbench_value(row)}, {"answers", row.answers}, {"right", row.right}, {"by_model", by_model}, {"by_technique", by_technique},
                 {"seconds", row.seconds}, {"cost_dollars", row.cost}, {"breakdown_seconds", row.breakdown}, {"best", row.best}};
  if (!row.sweep.empty()) result["sweep"] = row.sweep;
  if (!row.answer.empty()) {
    result["answer"] = row.answer;
    result["claimed"] = row.claimed;
    result["remarks"] = row.remarks;
  }
  return result;
}

// What the first journals did not have.
void read_later_fields(const json& value, SweepRow& row) {
  row.models = value.value("models", "");
  row.sweep = value.value("sweep", "");
  row.techniques = value.value("techniques", std::vector<std::string>{});
  row.answer = value.value("answer", "");
  row.claimed = value.value("claimed", std::map<std::string, double>{});
  row.remarks = value.value("remarks", std::vector<std::string>{});
  const json by_model = value.value("by_model", json::object());
  for (const auto& [model, share] : by_model.items())
    row.by_model[model] = {share.at("answers"), share.at("right"), share.at("won")};
  const json by_technique = value.value("by_technique", json::object());
  for (const auto& [technique, use] : by_technique.items())
    row.by_technique[technique] = {use.at("answers"), use.at("right"), use.at("timed"), use.at("gain")};
}

}  // namespace

std::string_view name(Status status) {
  switch (status) {
    case Status::verified: return "verified";
    case Status::nothing_right: return "nothing right";
    case Status::no_answer: return "no answer";
    case Status::refused: return "refused";
    case Status::failed: return "failed";
  }
  return "";
}

std::string to_json(const SweepRow& row) { return to_value(row).dump(-1, ' ', false, json::error_handler_t::replace); }

SweepRow sweep_row_from_json(std::string_view text) {
  try {
    const json value = json::parse(text);
    SweepRow row;
    value.at("key").get_to(row.key);
    value.at("level").get_to(row.level);
    value.at("id").get_to(row.id);
    value.at("task").get_to(row.task);
    value.at("digest").get_to(row.digest);
    value.at("device").get_to(row.device);
    for (const Status status : {Status::verified, Status::nothing_right, Status::no_answer, Status::refused, Status::failed})
      if (value.at("status") == name(status)) row.status = status;
    value.at("message").get_to(row.message);
    value.at("defects").get_to(row.defects);
    value.at("verdict").get_to(row.verdict);
    value.at("labels").get_to(row.labels);
    value.at("predicted").get_to(row.predicted);
    for (const auto& [baseline, ratio] : value.at("ratios").items())
      row.ratios[baseline] = ratio.contains("failed")
                                 ? SweepRow::Ratio{0, 0, 0, ratio.at("failed")}
                                 : SweepRow::Ratio{ratio.at("speedup"), ratio.at("low"), ratio.at("high"), ""};
    value.at("share_of_limit").get_to(row.share_of_limit);
    value.at("time_ms").get_to(row.time_ms);
    if (const json& said = value.at("kernelbench"); said.is_object())
      row.kernelbench_tolerance = said.at("least_tolerance").is_number() ? said.at("least_tolerance").get<double>() : HUGE_VAL;
    value.at("answers").get_to(row.answers);
    value.at("right").get_to(row.right);
    value.at("seconds").get_to(row.seconds);
    value.at("cost_dollars").get_to(row.cost);
    value.at("breakdown_seconds").get_to(row.breakdown);
    value.at("best").get_to(row.best);
    read_later_fields(value, row);
    return row;
  } catch (const json::exception& problem) {
    throw base::Error(base::Fault::bad_task, fmt::format("a sweep's journal has a line that is no result: {}", problem.what()));
  }
}

std::optional<double> least_ratio(const SweepRow& row) {
  std::optional<double> result;
  for (const auto& [baseline, ratio] : row.ratios)
    if (ratio.failed.empty()) result = std::min(result.value_or(ratio.value), ratio.value);
  return result;
}

namespace {

void add_figures(const std::vector<const SweepRow*>& rows, std::vector<SweepFigures>& result) {
  std::set<std::string> baselines;
  std::set<int> levels;
  for (const SweepRow* row : rows) {
    levels.insert(row->level);
    for (const auto& [baseline, ratio] : row->ratios) baselines.insert(baseline);
  }
  std::vector<std::string> columns(baselines.begin(), baselines.end());
  if (columns.size() > 1) columns.emplace_back(best_baseline);
  for (const std::string& baseline : columns) {
    for (const bool only_sound : {false, true}) {
      const auto add = [&](std::optional<int> level) {
        std::vector<const SweepRow*> taken;
        for (const SweepRow* row : rows)
          if ((!level || row->level == *level) && (!only_sound || sound(*row))) taken.push_back(row);
        result.push_back(figures_of(taken, baseline));
        result.back().sweep = rows.front()->sweep;
        result.back().level = level ? std::to_string(*level) : "all";
        result.back().aggregate = only_sound ? "sound" : "all";
      };
      add(std::nullopt);
      if (levels.size() > 1)
        for (const int level : levels) add(level);
    }
  }
}

}  // namespace

std::vector<SweepFigures> figures(const Sweep& sweep) {
  std::map<std::string, std::vector<const SweepRow*>> apart;
  for (const SweepRow& row : sweep.rows) apart[row.sweep].push_back(&row);
  std::vector<SweepFigures> result;
  for (const auto& [label, rows] : apart) add_figures(rows, result);
  return result;
}

}  // namespace cudal1::report
