// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/task.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace cudal1::cli {

// Which kernel file, at which sizes.
struct TaskOptions {
  std::string task;
  std::vector<std::string> set;  // "N=64"
};
void add_task_options(CLI::App& app, TaskOptions& options);

// The task, checked against `memory_bytes`. Throws base::Error: bad_input for the file, usage for a --set that is none.
task::Task load_task(const TaskOptions& options, std::size_t memory_bytes);

std::size_t host_memory_bytes();

}  // namespace cudal1::cli
