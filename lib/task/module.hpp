// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/plan.hpp"
#include "task/task.hpp"

namespace cudal1::task {

// The task of a PyTorch module (its path ends in .py): an interface without a kernel of its own. PyTorch says what is
// right, at the module's own sizes, which are its check sizes too.
bool is_module(const Task& task);

// The buffers of a task's interface and no steps: what every variant of it gets.
kernel::Plan interface_plan(const Task& task, const Workload& workload);

}  // namespace cudal1::task
