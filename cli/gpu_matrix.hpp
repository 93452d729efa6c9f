// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "judged_variants.hpp"

#include <string>
#include <vector>

namespace cudal1::cli {

// The same variants on several GPUs: one that is there is measured, the times of the others are predicted.
struct JudgedOnGpu {
  GpuRecord record;                // `name` alone for a GPU that is there
  bool measured = false;
  std::string problem;             // why the task itself cannot be judged there; empty: it can
  JudgedHere judged;
};

// Judges on each GPU that --gpu lists, after the one that --device means where there is one, and prints the matrix. Throws as
// judge_variants does, but for a task that one of the GPUs cannot run.
std::vector<JudgedOnGpu> judge_on_gpus(const JudgedVariantsOptions& options, const Console& console);

}  // namespace cudal1::cli
