// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/model.hpp"
#include "task/task.hpp"

#include <string>
#include <vector>

namespace cudal1::prompt {

// A prompt for small models, which learn its form: the task's directives, its own kernel left out, then each exemplar
// behind a line such as `// 15.4x`. The answer is a kernel file alone.
std::string compact(const task::Task& task, const std::vector<model::Exemplar>& exemplars);

}  // namespace cudal1::prompt
