// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/task.hpp"

#include <string>

namespace cudal1::pytorch {

// The torch line of a kernel file as a module in KernelBench's form, at one workload; empty where there is no line.
// Inputs have the declared shapes, types and distributions, drawn by PyTorch: for times, not for what is right.
std::string kernel_module(const task::Task& task, const task::Workload& workload);

}  // namespace cudal1::pytorch
