// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine.hpp"

#include <cstdint>
#include <vector>

namespace cudal1::sim {

// Blocks that stand for a whole grid: the corners and borders, runs of neighbours, and interior blocks spread evenly. All of
// them when there are no more than `most`.
std::vector<std::uint64_t> sample_blocks(const std::array<std::uint32_t, 3>& grid, std::uint64_t most);

}  // namespace cudal1::sim
