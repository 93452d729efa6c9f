// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compile/compiler.hpp"
#include "kernel/plan.hpp"
#include "task/task.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace cudal1::time_model {

// One kernel of a family: a kernel file with its tunables fixed, compiled, with its plan at the file's sizes.
struct Member {
  std::string label;  // "BLOCK=128 WIDTH=4"
  kernel::Plan plan, check;
  outcome::Binary binary;
};

// A kernel file and every member of its tune family: variants of one piece of work, to be ranked against each other.
struct Family {
  std::string name;
  task::Task task;
  std::vector<Member> members;
};

// Reads and compiles the kernel files of a folder (those named in `only`, if any), on all cores.
std::vector<Family> families(const std::filesystem::path& folder, const std::vector<std::string>& only);

}  // namespace cudal1::time_model
