// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/judgement.hpp"
#include "reference/buffers.hpp"
#include "verify/case.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudal1::verify {

// What the trials of one variant showed. Without a fault it is right as far as they went.
struct Evidence {
  std::optional<outcome::Verdict> fault;        // the first that any trial earned
  std::string message;                          // one line, names the trial
  std::vector<outcome::Finding> findings;
  std::optional<outcome::WrongElement> first_wrong, worst_wrong;
  outcome::ErrorFigures errors;
  std::string printed;                          // by the kernels, in the first run that printed anything

  void merge(Evidence other);                   // keeps the first fault, the largest errors
};

// Runs a variant on one case, in `buffers` made for its plan: outputs and scratch poisoned before, compared after; guard
// zones and inputs intact. With `twice` a second run starts from finite wrong outputs instead of NaN.
Evidence check(device::Device& device, const kernel::File& task, const Program& program, const Case& subject,
               reference::Buffers& buffers, bool twice);

// The fault that a run's end stands for; empty when it went well.
std::optional<outcome::Verdict> fault(const device::RunResult& result);

// Compares outputs that are already in place with a case: for runs that were timed.
Evidence compare_outputs(const kernel::File& task, const reference::Buffers& buffers, const kernel::Plan& plan,
                         const Case& subject);

}  // namespace cudal1::verify
