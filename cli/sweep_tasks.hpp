// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arguments.hpp"
#include "console.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cudal1::cli {

// A task of a sweep: a kernel file or a PyTorch module.
struct SweepTask {
  std::filesystem::path file;
  std::string key;          // its path below the folder that was given; '/' between the parts
  int level = 0, id = 0;    // level2/19_Name.py; 0 where the layout gives none

  std::string folder() const;   // a name for its run: the key without what a file system may not like
};

struct Selection {
  std::vector<std::string> levels, ids, globs;   // "1", "1,3-5", "level1/*Conv*"; empty: all
  std::string order = "id";                      // id, name, random
  std::uint64_t seed = 1;
};

// Which tasks, and how many at a time.
struct BatchOptions {
  Selection selection;
  std::string shard;
  int jobs = 1;
  double time_limit = 0;   // seconds, of one task
  double begin_within = 0;   // seconds, after which no task begins; 0: none
};
void add_batch_options(Arguments app, BatchOptions& options, const char* group);

// By level and number, by name, or drawn, as the selection says.
void put_in_order(std::vector<SweepTask>& tasks, const Selection& selection);

// Where a file lies in KernelBench's layout. `root` is the folder that was given, or the file itself.
SweepTask task_at(const std::filesystem::path& file, const std::filesystem::path& root);

// The tasks below `roots` (files or folders) that the selection takes, in its order. Files that are no task (without
// `//@` directives, or Python without Model and get_inputs) are left out. Throws base::Error: usage for a selection that
// is none, bad_input when nothing is left.
std::vector<SweepTask> find_tasks(const std::vector<std::string>& roots, const Selection& selection);

// Of `set` ("N=64"), what names a size of a kernel file, or is assigned at the top of a module. Of a kernel file that
// cannot be parsed all, for the task itself to complain.
std::vector<std::string> settings_of(const SweepTask& task, const std::vector<std::string>& set);

// Identifies a task's text, with the settings that it takes, before anything is started for it.
std::string digest_of(const SweepTask& task, const std::vector<std::string>& set);

// Tasks of one folder have constants of different names: says how many take each of `set`. Throws base::Error(usage) for
// one that none takes.
void say_settings(const std::vector<std::string>& set, const std::vector<SweepTask>& tasks, const Console& console);

// "2", "1,3-5", as a list. Throws base::Error(usage).
std::vector<int> numbers(const std::vector<std::string>& texts, const std::string& option);

}  // namespace cudal1::cli
