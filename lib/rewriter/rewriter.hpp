// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/applied_technique.hpp"
#include "task/task.hpp"

#include <string>
#include <vector>

namespace cudal1::rewriter {

// The task's own kernels, rewritten by some of the rules of draft.hpp.
struct Rewriting {
  std::string id;      // "own kernel/staging, read-only": stands in the kernel file too
  std::string source;  // the kernel file
  std::vector<outcome::AppliedTechnique> techniques;
};

// Each combination of rules that changes something and that no earlier one equals, in the order in which they are worth a try.
std::vector<Rewriting> rewritings(const task::Task& task);

}  // namespace cudal1::rewriter
