// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench.hpp"

namespace figures {

// A task with a judge on the first GPU.
struct Court {
  explicit Court(const Kernel& kernel, bool counters = true)
      : task(task::from_source(kernel.task, kernel.name + ".cu")), compiler(Bench::compiler_options()), judge(task, compiler, options(counters)) {}
  static judge::Options options(bool counters) {
    judge::Options result;
    result.device = "cuda:0";
    result.counters = counters;
    result.worker = Bench::worker("device");
    return result;
  }
  task::Task task;
  compile::Compiler compiler;
  judge::Judge judge;
};

}  // namespace figures
