// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "judged_variants.hpp"
#include "sweep_run.hpp"

#include <string>
#include <vector>

namespace cudal1::cli {

// `verify --answers`: published answers in bulk, each judged as `verify TASK ANSWER` judges one.
struct AnswerSweepOptions {
  std::string answers;
  std::vector<std::string> tasks;   // folders; empty: what the answers were published with
  BatchOptions batch;
  SweepOutput output;
};
void add_answer_sweep_options(Arguments app, AnswerSweepOptions& options);

ExitCode sweep_answers(const AnswerSweepOptions& options, const JudgedVariantsOptions& judged, const Console& console);

}  // namespace cudal1::cli
