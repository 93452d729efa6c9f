// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arguments.hpp"
#include "console.hpp"
#include "device_options.hpp"
#include "task_options.hpp"

#include "compile/compiler.hpp"
#include "judge/judge.hpp"
#include "outcome/precision.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cudal1::cli {

// How variants are compiled and judged.
struct WorkbenchOptions {
  std::uint64_t seed = 1;
  double run_limit = 10, compile_limit = 30;  // seconds
  double gpu_budget = 250;                    // milliseconds
  bool no_sandbox = false, no_sanitizer = false, no_counters = false, accept_degenerate = false, no_pytorch = false, no_oracle = false;
  std::string require_oracle;                 // "torch", "shadow"; empty: none
  bool final_verdicts = true;                 // may be asked for
  std::string precision;                      // empty: as precise as the task's reference
  int trials = 2;                             // of the declared inputs
  int final_pairs = 24;                       // of measurements for a final verdict, in each process
  bool look_for_tenants = true;               // whether other programs use the GPU: a second after work of our own
  std::vector<std::string> baselines;         // of PyTorch; empty: the usual ones
  std::string against;                        // file of a variant to compare with instead of the reference
  std::filesystem::path hangs;                // of the run that this belongs to; a GPU has one file for all runs
  std::function<void(const std::string& text)> printed;  // takes what variants print
};
void add_compile_options(Arguments app, WorkbenchOptions& options);  // --compile-limit, --no-sandbox
void add_judge_options(Arguments app, WorkbenchOptions& options);    // these and --seed, --run-limit …
void add_accept_degenerate(Arguments app, WorkbenchOptions& options);

std::vector<std::string> baselines(const WorkbenchOptions& options, const task::Task& task);   // as judge::Options has them

// Says on what the variants are judged, and what was asked for in vain there.
void say_device(const DeviceChoice& choice, const WorkbenchOptions& options, const Console& console);

// Throws base::Error(bad_task) for a torch line that cannot be evaluated, unless the options allow it.
void require_known_torch_line(const WorkbenchOptions& options, const task::Task& task);

compile::CompilerOptions compiler_options(const WorkbenchOptions& options);
judge::Options judge_options(OpenTask& open, const DeviceChoice& choice, const WorkbenchOptions& options);   // the task must outlive the judge
outcome::Precision precision_of(const WorkbenchOptions& options, const task::Task& task);

// A compiler and a judge for one task on one device; with a choice of several devices one further judge for each. The
// task must outlive it.
struct Workbench {
  Workbench(OpenTask& open, const DeviceChoice& choice, const WorkbenchOptions& options);
  std::vector<judge::Judge*> judges();
  compile::Compiler compiler;
  judge::Judge judge;
  std::vector<std::unique_ptr<judge::Judge>> others;
};

}  // namespace cudal1::cli
