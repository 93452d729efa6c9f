// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/random.hpp"
#include "compile/compiler.hpp"
#include "kernel/plan.hpp"
#include "outcome/precision.hpp"
#include "task/task.hpp"
#include "verify/case.hpp"

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace cudal1::variants {

// The tasks of a file of lines: each begins with its `//@ task`, and all share `naive`, the functions of their plain kernels.
struct TaskText {
  std::string name, source;
};
std::vector<TaskText> task_texts(const std::string& path, const std::string& naive);

// A compiled file with its plan at each check size of its task.
struct Program {
  outcome::Binary binary;
  std::vector<kernel::Plan> plans;
};

// Turns kernel files into PTX for the simulator.
class Builder {
 public:
  Builder();
  tl::expected<Program, std::string> build(const task::Task& task, const kernel::File& file, const kernel::Environment& tunables);

 private:
  compile::Compiler compiler_;
};

// A task, and what is right for it at its check sizes: made when it is first asked for, once for all variants and threads.
class TorchLine {
 public:
  explicit TorchLine(const TaskText& text) : task_(task::from_source(text.source, text.name + ".cu")) {}
  const task::Task& task() const { return task_; }
  const std::vector<verify::Case>& cases(outcome::Precision precision, Builder& builder);

 private:
  std::vector<verify::Case> made_cases(outcome::Precision precision, Builder& builder) const;

  const task::Task task_;
  std::mutex mutex_;
  std::map<outcome::Precision, std::vector<verify::Case>> cases_;
};

}  // namespace cudal1::variants
