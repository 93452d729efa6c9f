// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine.hpp"

#include <cstdint>

namespace cudal1::sim {

// Memory and register slabs for one block of a launch; used again for the next block.
void prepare(Block& block, Worker& worker);
// Puts a block at its beginning.
void begin(Block& block, Worker& worker, std::uint64_t number);

enum class Progress : std::uint8_t { finished, waiting, stuck };
// Runs the block's warps, each to its barrier or the end of its slice; `waiting`: some used up their slice. `stuck`: nobody
// can run, because a barrier will never be complete.
Progress advance(Block& block, std::int64_t slice);

}  // namespace cudal1::sim
