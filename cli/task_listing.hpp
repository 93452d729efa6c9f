// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/task.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace cudal1::cli {

// A task as lists of tasks have it.
struct ListedTask {
  std::string name, file, sha256;
  std::string structure, group;   // curriculum/structure.hpp
  bool test = false;
  std::string torch;              // the line; empty: none
};
ListedTask listed(const task::Task& task, const std::string& file);
std::string to_line(const ListedTask& task);   // of JSON, with a newline

// The tasks of files and folders: kernel files, PyTorch modules (which need a Python with PyTorch), and lines of JSON that
// `tasks` or `dataset` wrote. In a folder files that are no tasks are left out, and `left_out` counts them; a file that was named is an error.
struct Listing {
  std::vector<ListedTask> tasks;
  std::size_t left_out = 0;
};
Listing list_tasks(const std::vector<std::string>& paths, const std::string& python);

}  // namespace cudal1::cli
