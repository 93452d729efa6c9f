// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/judgement_table.hpp"
#include "report/report.hpp"

#include <string>
#include <vector>

namespace cudal1::report {

// What one GPU says of the same variants.
struct GpuRow {
  std::string gpu, capability;            // "A100", "8.0"
  bool measured = false, compared = false;  // compared: a prediction by a model that was compared with times measured on this GPU
  std::string problem;                    // why the task itself cannot be judged here; empty: it can
  std::vector<NamedJudgement> judgements;
};

// What `bench --gpu a100,l40s` prints: for several variants their speed-ups side by side, then for each variant a row per GPU
// (and workload). Every row has the same variants.
std::string gpu_matrix(const std::vector<GpuRow>& rows, const Style& style);

}  // namespace cudal1::report
