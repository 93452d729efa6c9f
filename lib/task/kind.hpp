// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/task.hpp"

#include <string_view>

namespace cudal1::task {

// What most of a task's work is, by its torch line: "attention", "recurrent", "convolution", "product", "scan", "sort",
// "normalisation", "pooling", "reduction", "pointwise", the first of these that the line has; "kernel" without a torch line.
std::string_view kind(const Task& task);

}  // namespace cudal1::task
