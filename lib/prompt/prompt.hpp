// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/model.hpp"
#include "outcome/precision.hpp"
#include "prompt/templates.hpp"
#include "task/task.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::prompt {

// One workload's time to beat.
struct ReferenceTime {
  std::string workload;           // "N=4096 M=4096"
  double ms = 0;
  double speed_of_light_ms = 0;   // 0: not known
  std::string limited_by;
};

// What stays the same through a run. The task must outlive it.
struct Setting {
  const task::Task* task = nullptr;
  outcome::DeviceFacts device;
  std::vector<ReferenceTime> times;
  bool predicted = false;         // times are the simulator's predictions
  bool oracle = true;
  outcome::Precision precision = outcome::Precision::fp32;
  outcome::Judgement reference;   // the reference's own: score 1
  std::string hint;               // the user's
};

// What one question adds.
struct Request {
  model::Key key;
  std::vector<model::Exemplar> exemplars;       // by rising score; none in a cold start
  std::optional<model::Exemplar> failure;       // shown as a warning; the answer to repair when key.attempt is 1
  std::string failure_format;                   // why the failed reply was no answer at all; empty: it was judged
  std::string failure_reply;                    // that reply
  std::vector<std::string> other_failures;      // what else failed before, one line each
  bool scores = true;                           // false: exemplars without scores and without what was measured
  std::vector<std::string> lessons;             // the scratchpad: what helped and what harmed so far, one line each
  std::vector<std::string> memory;              // what earlier runs on such tasks came to, one line each
  std::vector<std::string> undo;                // techniques that the one exemplar is to lose again
  std::string technique;                        // one to try in this sample; empty: free choice
};

struct Rendered {
  std::string system, user;
  std::vector<std::string> cut;   // what was left out to fit, one sentence each; also said in the prompt
};

// More than this helps no model.
constexpr std::size_t most_bytes = std::size_t{400} << 10;

// Fills the prompt for one question: first_round without exemplars, contrast_round with them, repair_… for an attempt 1,
// ablation when something is to be undone. A round's text longer than `limit` bytes is fitted: lessons, then the failure's
// source, then the exemplars' analyses, then counters, then all exemplars but the fastest go; the task stays.
Rendered render(const Templates& templates, const Setting& setting, const Request& request, std::size_t limit = most_bytes);

// A judgement in the words of a prompt: score, time, interval, share of the limit, resources, counters, hot lines.
std::string describe_success(const outcome::Judgement& judgement, const std::string& source);
std::string describe_facts(const outcome::Judgement& judgement);      // of these: score, times, resources
std::string describe_counters(const outcome::Judgement& judgement);   // and counters
// Verdict, message, diagnostics with their source lines, wrong elements, findings.
std::string describe_failure(const outcome::Judgement& judgement, const std::string& source);

}  // namespace cudal1::prompt
