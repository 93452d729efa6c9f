// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::outcome {

// What the reference alone shows about its task, most serious first.
enum class TaskVerdict {
  broken,           // it fails, or its output is not finite
  unstable,         // two runs on the same inputs disagree
  degenerate,       // the answer needs no work: constant, zero, or not dependent on the inputs
  ill_conditioned,  // rounding alone moves the output far
  input_range,      // under the declared inputs an output equals an input
  keeps_state,      // a second call of the same PyTorch module gives another output
  collapsible,      // algebra takes most of the arithmetic away
};
std::string_view name(TaskVerdict verdict);  // "TASK_DEGENERATE"; a remark, such as INPUT_RANGE, stands without the prefix
std::optional<TaskVerdict> parse_task_verdict(std::string_view name);

struct TaskFinding {
  TaskVerdict verdict = TaskVerdict::degenerate;
  std::string reason;                        // one sentence
};

// True when no speed-up can be earned on such a task.
bool unsound(TaskVerdict verdict);

}  // namespace cudal1::outcome
