// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/truth.hpp"

#include <vector>

namespace cudal1::reference {

// Fills in the truth of the outputs that the task has recorded values of. Throws base::Error(bad_input) where a file is
// missing or does not fit.
void read_expectations(const task::Task& task, std::vector<Expected>& outputs);

}  // namespace cudal1::reference
