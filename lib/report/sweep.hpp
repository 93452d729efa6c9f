// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/technique_use.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::report {

// What became of one task of a sweep. Written to its journal as JSON, documented in cudal1-json(5).
struct SweepRow {
  enum class Status {
    verified,        // a variant is right, whatever its speed
    nothing_right,   // no answer was right
    no_answer,       // published: an entry without code
    refused,         // the task gate: PyTorch does not agree with itself, or its outputs are not finite
    failed,          // the task could not be read or run; `message` says why
  };
  std::string key;                          // "level1/19_ReLU.py": the path below the folder that was given
  int level = 0, id = 0;                    // of KernelBench's layout; 0 where there is none
  std::string task, digest, device, models; // digest: of the source with its --set values, and of a published answer
  std::string sweep;                        // of several that are kept apart in one table: what tells it from the others
  Status status = Status::failed;
  std::string message;                      // one line: the verdict's, or why not
  std::vector<std::string> defects;         // kinds found by the task gate; none: sound
  std::string verdict;                      // "PREDICTED_FASTER"; empty without a right variant, unless it is published
  std::vector<std::string> labels, techniques;   // of the winner
  bool predicted = false;
  // Baseline → ratio baseline time / answer time with its interval. A baseline that failed has a reason instead.
  struct Ratio {
    double value = 0, low = 0, high = 0;
    std::string failed;
  };
  std::map<std::string, Ratio> ratios;
  double share_of_limit = 0, time_ms = 0;   // of the answer, at the first workload
  double kernelbench_tolerance = -1;        // of outcome::ErrorFigures
  int answers = 0, right = 0;
  struct Share {
    int answers = 0, right = 0, won = 0;
  };
  std::map<std::string, Share> by_model;    // who wrote the answers
  std::map<std::string, search::TechniqueUse> by_technique;
  std::string answer;                       // where a published one is from; empty: the row is a search's
  std::map<std::string, double> claimed;    // baseline → what was published
  std::vector<std::string> remarks;         // what a published answer does besides
  double seconds = 0, cost = 0;             // wall time of this task; US dollars for its replies
  std::map<std::string, double> breakdown;  // of `seconds`, by what took it
  std::string best;                         // the winner's file; empty without one
};
std::string_view name(SweepRow::Status status);
std::string to_json(const SweepRow& row);
SweepRow sweep_row_from_json(std::string_view text);  // throws base::Error(bad_input)

// A finished or interrupted sweep; several shards of one may be merged.
struct Sweep {
  std::string device, models;
  std::vector<SweepRow> rows;               // in the order of sweep, level, id and key
  std::vector<std::string> remarks;         // missing shards, tasks measured twice; one sentence each
};

// The figures of one baseline at one level of one sweep.
struct SweepFigures {
  std::string sweep, baseline, level, aggregate;   // level "all" or a number; aggregate "all" or "sound"
  int tried = 0, scored = 0, faster = 0, slower = 0;      // faster: above 1.01; slower: below 1.00
  double mean = 0, mean_none_is_one = 0, max = 0, p75 = 0, median = 0, p25 = 0, success = 0, geomean = 0;
  double share_of_limit = 0;                // median over what is verified and has one
  std::map<double, double> fast;            // p → share of all tried that is right and more than p times as fast
};
std::vector<SweepFigures> figures(const Sweep& sweep);

// The baseline time over the answer's time against the fastest baseline that the task has; empty without one.
std::optional<double> least_ratio(const SweepRow& row);

// How often a technique was used, what it brought, how often it is in a winner, and how fast these winners are.
struct TechniqueFigures {
  std::string sweep, technique;
  int winners = 0, answers = 0, right = 0, timed = 0;
  double gain = 0;                          // as SweepRow::Use has it, over all tasks; 0: none is timed
  double geomean = 0;                       // against the fastest baseline; 0: none was timed
};
std::vector<TechniqueFigures> technique_figures(const Sweep& sweep);   // most frequent winners first

// What one model wrote over all tasks of a sweep.
struct ModelFigures {
  std::string sweep, model;
  int tasks = 0, answers = 0, right = 0, won = 0;   // tasks: that it answered; won: with the winner
  double geomean = 0;                       // of the tasks that it won, against the fastest baseline
};
std::vector<ModelFigures> model_figures(const Sweep& sweep);

// Published answers at one level: what is claimed beside what is measured.
struct AnswerFigures {
  std::string sweep, level, aggregate;
  int entries = 0, without_code = 0, not_judged = 0, failed = 0, wrong = 0, right = 0;   // right: by our rule
  int at_two = 0, at_four = 0;              // KernelBench's comparison passes at 1e-2, at 1e-4
  int timed = 0;                            // right, with a claim and a time against eager
  double claimed = 0, measured = 0;         // geometric means of these, against eager
};
std::vector<AnswerFigures> answer_figures(const Sweep& sweep);   // empty without a published answer

// "terminal", "markdown", "json", "csv", "svg" (the distribution of the ratios).
std::vector<std::string> sweep_formats();
std::string render(const Sweep& sweep, std::string_view format);

}  // namespace cudal1::report
