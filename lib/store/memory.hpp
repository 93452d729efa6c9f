// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/run.hpp"
#include "task/task.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace cudal1::store {

// Lessons that outlast a run: a folder with one small JSON file for each run. A file says what kind of task the run had, what each
// technique came to (search/technique_use.hpp), and what went wrong.

// Writes what `run` showed; the file of an earlier execution of the same run is replaced. Nothing when nothing was judged.
void remember(const std::filesystem::path& memory, const Run& run, const task::Task& task);

// For the prompts of a run on a task of this kind and a GPU of this name: one line for each technique, most gain first, then one
// for each kind of failure, most frequent first. Empty when there is no such run. Throws base::Error(usage) for a file that
// is damaged.
std::vector<std::string> recall(const std::filesystem::path& memory, std::string_view kind, const std::string& gpu,
                                std::size_t most_techniques = 10, std::size_t most_failures = 4);

}  // namespace cudal1::store
