// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "exit_codes.hpp"
#include "sweep_crew.hpp"
#include "sweep_merge.hpp"
#include "workbench.hpp"

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace cudal1::cli {

struct SweepOutput {
  std::string folder, format = "terminal";
  bool as_json = false;
};

// What is swept, and what is done with each task.
struct SweepRun {
  std::vector<SweepTask> tasks;
  std::string models, options;                     // of the sweep's identity
  std::string default_folder, noun;                // "task"
  std::vector<std::string> remarks{};              // for the summary
  bool cpu = false;                                // it runs on the CPU where there is no GPU, not on the simulator
  std::function<SweepWork(const std::filesystem::path& folder, GpuShares& shares, const std::stop_token& stop)> work;
  std::function<void(const std::filesystem::path& folder, const report::Sweep& rows)> finish{};   // may be empty
};

// Runs or goes on with a sweep and prints its summary. Interrupted, it ends within a few seconds with all finished rows.
ExitCode run_sweep(const SweepRun& sweep, const BatchOptions& batch, const DeviceOptions& device, const WorkbenchOptions& workbench,
                   const SweepOutput& output, const Console& console);

// summary.md, .json, .csv and .svg.
void write_summaries(const std::filesystem::path& folder, const report::Sweep& sweep);

}  // namespace cudal1::cli
