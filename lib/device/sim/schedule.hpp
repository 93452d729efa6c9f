// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace cudal1::sim {

// Runs blocks of a launch on up to `threads` host threads and returns one worker for each, in a fixed order. `numbers` are the
// linear block numbers to run; empty: all. What is computed and found does not depend on `threads`. `resident` is how many
// blocks may be under way at once where blocks wait for each other.
std::vector<std::unique_ptr<Worker>> run_blocks(Launch& launch, const std::vector<std::uint64_t>& numbers, int threads,
                                                std::uint64_t resident);

}  // namespace cudal1::sim
