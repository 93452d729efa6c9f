// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/trial.hpp"
#include "reference/truth.hpp"

#include <string>
#include <vector>

namespace cudal1::reference {

// A trial that another process computed and holds in memory, which `path` opens for as long as that process lives: the
// bytes of the task's inputs in order of declaration, then for each output its truth, the reference's own values, and
// the standard deviation of a sound computation's error, as doubles.
struct StoredCase {
  Trial trial;
  std::string path;
  bool kernelbench = false;  // inputs and weights are those that KernelBench's harness would draw
};

struct ReadCase {
  std::vector<Bytes> inputs;
  std::vector<Expected> expected;
};

// Throws base::Error(internal) when the memory is gone or of another size.
ReadCase read(const StoredCase& stored, const task::Task& task, const task::Workload& workload);

}  // namespace cudal1::reference
