// SPDX-License-Identifier: Apache-2.0
#include "report/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

namespace cudal1::report {

namespace {

using Status = SweepRow::Status;

// A geometric mean as it grows.
struct Mean {
  double logs = 0;
  int count = 0;
  void add(double value) { logs += std::log(value), ++count; }
  double value() const { return count == 0 ? 0 : std::exp(logs / count); }
};

AnswerFigures figures_of(const std::vector<const SweepRow*>& rows) {
  AnswerFigures result;
  Mean claimed, measured;
  for (const SweepRow* row : rows) {
    ++result.entries;
    result.without_code += row->status == Status::no_answer ? 1 : 0;
    result.not_judged += row->status == Status::refused || row->status == Status::failed ? 1 : 0;
    result.right += row->status == Status::verified ? 1 : 0;
    if (row->status == Status::nothing_right) ++(row->verdict == "WRONG_RESULT" ? result.wrong : result.failed);
    const double takes = row->kernelbench_tolerance;
    result.at_two += takes >= 0 && takes <= 1e-2 ? 1 : 0;
    result.at_four += takes >= 0 && takes <= 1e-4 ? 1 : 0;
    const auto claim = row->claimed.find("eager");
    const auto ratio = row->ratios.find("eager");
    if (row->status != Status::verified || claim == row->claimed.end() || claim->second <= 0 || ratio == row->ratios.end() || !ratio->second.failed.empty()) continue;
    ++result.timed;
    claimed.add(claim->second);
    measured.add(ratio->second.value);
  }
  result.claimed = claimed.value();
  result.measured = measured.value();
  return result;
}

}  // namespace

std::vector<TechniqueFigures> technique_figures(const Sweep& sweep) {
  struct Sums {
    int winners = 0, answers = 0, right = 0;
    Mean winning, gain;
  };
  std::map<std::pair<std::string, std::string>, Sums> counted;
  for (const SweepRow& row : sweep.rows) {
    for (const auto& [technique, use] : row.by_technique) {
      auto& sums = counted[{row.sweep, technique}];
      sums.answers += use.answers;
      sums.right += use.right;
      sums.gain.logs += std::log(use.gain) * use.timed;
      sums.gain.count += use.timed;
    }
    if (row.status != Status::verified) continue;
    for (const std::string& technique : std::set<std::string>(row.techniques.begin(), row.techniques.end())) {
      auto& sums = counted[{row.sweep, technique}];
      ++sums.winners;
      if (const auto ratio = least_ratio(row)) sums.winning.add(*ratio);
    }
  }
  std::vector<TechniqueFigures> result;
  for (const auto& [name, sums] : counted) result.push_back({name.first, name.second, sums.winners, sums.answers, sums.right, sums.gain.count, sums.gain.value(), sums.winning.value()});
  std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
    return std::tie(a.sweep, b.winners, b.answers) < std::tie(b.sweep, a.winners, a.answers);
  });
  return result;
}

std::vector<ModelFigures> model_figures(const Sweep& sweep) {
  std::map<std::pair<std::string, std::string>, std::pair<ModelFigures, Mean>> counted;
  for (const SweepRow& row : sweep.rows)
    for (const auto& [model, share] : row.by_model) {
      auto& [figures, mean] = counted[{row.sweep, model}];
      ++figures.tasks;
      figures.answers += share.answers;
      figures.right += share.right;
      figures.won += share.won;
      if (const auto ratio = least_ratio(row); ratio && share.won > 0) mean.add(*ratio);
    }
  std::vector<ModelFigures> result;
  for (const auto& [name, sums] : counted) {
    result.push_back(sums.first);
    result.back().sweep = name.first;
    result.back().model = name.second;
    result.back().geomean = sums.second.value();
  }
  return result;
}

std::vector<AnswerFigures> answer_figures(const Sweep& sweep) {
  std::map<std::string, std::vector<const SweepRow*>> apart;
  for (const SweepRow& row : sweep.rows)
    if (!row.answer.empty()) apart[row.sweep].push_back(&row);
  std::vector<AnswerFigures> result;
  for (const auto& [label, rows] : apart) {
    std::set<int> levels;
    for (const SweepRow* row : rows) levels.insert(row->level);
    const auto add = [&, label = label](int level, bool only_sound) {
      std::vector<const SweepRow*> taken;
      for (const SweepRow* row : rows)
        if ((level < 0 || row->level == level) && (!only_sound || row->defects.empty())) taken.push_back(row);
      result.push_back(figures_of(taken));
      result.back().sweep = label;
      result.back().level = level < 0 ? "all" : std::to_string(level);
      result.back().aggregate = only_sound ? "sound" : "all";
    };
    for (const bool only_sound : {false, true}) {
      add(-1, only_sound);
      if (levels.size() > 1)
        for (const int level : levels) add(level, only_sound);
    }
  }
  return result;
}

}  // namespace cudal1::report
