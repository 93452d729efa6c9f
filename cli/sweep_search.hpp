// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "run_options.hpp"
#include "sweep_crew.hpp"

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace cudal1::cli {

// How a sweep searches for an answer to each task.
struct SweepSearch {
  RunOptions run;
  double time_limit = 0, cost_limit = 0;   // of one task; 0: none
  std::vector<std::string> exports;
  std::filesystem::path folder;            // the sweep's
  bool force = false;                      // go on with runs of another driver, version, device or prompts
};

// Everything that changes a task's result, but for the task itself.
std::string options_text(const SweepSearch& search);

// What a crew does with each task. All must outlive it.
SweepWork searching(const SweepSearch& search, const Console& console, GpuShares& shares, const std::stop_token& stop);

}  // namespace cudal1::cli
