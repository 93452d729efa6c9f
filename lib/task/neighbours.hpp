// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/task.hpp"

#include <vector>

namespace cudal1::task {

// Sizes that nobody declared, near the check sizes and unlike them, and a check size with other real scalars: a variant that
// fails there is specialised, not wrong.
std::vector<Workload> neighbours(const Task& task);

}  // namespace cudal1::task
