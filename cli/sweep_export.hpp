// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sweep_tasks.hpp"
#include "task_options.hpp"

#include "report/sweep.hpp"

#include <filesystem>
#include <string>

namespace cudal1::cli {

// Where a sweep's verified answers go, in one form:
//   kernelbench   export/kernelbench/runs/level1/level_1_problem_19_sample_0_kernel.py, eval_results.json
//   torch         export/torch/L1_19_ReLU.py, a module with a function
//   host          export/host/L1_19_ReLU.cu and .h, for nvcc
struct Export {
  std::filesystem::path folder;   // the sweep's
  std::string form;
};

// Nothing for a kernel file's task in a form for PyTorch. Throws base::Error when the answer has no such form.
void export_answer(const Export& where, const SweepTask& task, const OpenTask& open, const std::filesystem::path& best);

// What KernelBench's analysis reads beside the answers: the verdicts, and what was measured of answers and baselines.
void finish_export(const Export& where, const report::Sweep& sweep);

}  // namespace cudal1::cli
