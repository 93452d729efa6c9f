// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/task.hpp"

#include <string>

namespace cudal1::playbook {

// The plainest kernels of a torch line: one for each operation, by no identity, as the text of an answer. A task that comes without
// kernels of its own gets them. Throws base::Error(bad_task) where the line is not covered.
std::string plain_kernels(const task::Task& task);

}  // namespace cudal1::playbook
