// SPDX-License-Identifier: Apache-2.0
#include "outcome/task_finding.hpp"

#include <utility>

namespace cudal1::outcome {

namespace {

constexpr std::pair<std::string_view, TaskVerdict> names[] = {
    {"TASK_BROKEN", TaskVerdict::broken},
    {"TASK_UNSTABLE", TaskVerdict::unstable},
    {"TASK_DEGENERATE", TaskVerdict::degenerate},
    {"TASK_ILL_CONDITIONED", TaskVerdict::ill_conditioned},
    {"INPUT_RANGE", TaskVerdict::input_range},
    {"KEEPS_STATE", TaskVerdict::keeps_state},
    {"COLLAPSIBLE", TaskVerdict::collapsible},
};

}  // namespace

std::string_view name(TaskVerdict verdict) {
  for (const auto& [text, value] : names)
    if (value == verdict) return text;
  return "";
}

std::optional<TaskVerdict> parse_task_verdict(std::string_view name) {
  for (const auto& [text, value] : names)
    if (text == name) return value;
  return std::nullopt;
}

bool unsound(TaskVerdict verdict) {
  return verdict == TaskVerdict::broken || verdict == TaskVerdict::unstable || verdict == TaskVerdict::degenerate;
}

}  // namespace cudal1::outcome
