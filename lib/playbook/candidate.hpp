// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "families/costs.hpp"
#include "outcome/applied_technique.hpp"
#include "outcome/device_facts.hpp"
#include "outcome/precision.hpp"
#include "task/task.hpp"

#include <string>
#include <vector>

namespace cudal1::playbook {

// One answer that the playbook can give to a task.
struct Candidate {
  std::string id;                                 // "diagonal/fused": stands in the kernel file too
  std::string source;                             // the kernel file
  std::vector<outcome::AppliedTechnique> techniques;  // labels, each with what it means here
  std::vector<families::Work> work;               // of each kernel
  families::Work total;                           // of all
  int kernels = 0;                                // launches
  bool simple = false;                            // the plainest form: what a failed answer falls back to
  bool only_repairs = false;                      // not offered before an answer failed

  bool has(const std::string& technique) const;   // one of its labels
};

struct Candidates {
  std::vector<Candidate> list;  // by expected gain
  std::vector<Candidate> own;   // the task's own kernel rewritten, beside a list made from its torch line
  std::string refusal;          // one sentence when the list is empty, or of the task's own kernel although there is a torch line
};

// Everything the rules and families offer for the task's torch line, or for its own kernel when there is none. `own` is for a task whose
// kernel is faster than all of `list`, as a plain kernel for a stencil of slices or for many small products may be. Where
// `precision` allows it, the tensor cores multiply operands rounded to TF32. Launches and tiles are made for `device`; where
// nothing is known of it, for an H200.
Candidates candidates_for(const task::Task& task, outcome::Precision precision = outcome::Precision::fp32, const outcome::DeviceFacts& device = {});

// What else failed answers fall back to, not planned before one failed: where `precision` lets factors be rounded, the way that should cost
// least with factors as exact as float32; for a network, of which nothing plainer was offered, the plainest form.
std::vector<Candidate> repairs_for(const task::Task& task, outcome::Precision precision, const Candidates& offered, const outcome::DeviceFacts& device = {});

// What it should take on a device, in seconds, from bytes, operations and launches alone.
double expected_seconds(const Candidate& candidate, const outcome::DeviceFacts& device);

}  // namespace cudal1::playbook
