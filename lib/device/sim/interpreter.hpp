// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine.hpp"

#include <cstdint>

namespace cudal1::sim {

enum class Stop : std::uint8_t { finished, barrier, yielded };

// Runs a ready warp to its next barrier, its end, or until about `slice` warp instructions are spent.
Stop run_warp(Warp& warp, std::int64_t slice);

// Lets the lanes that wait for the running ones go on first: the way out when lanes of one warp wait for each other's stores.
// False when no other lanes are waiting.
bool rotate_frames(Warp& warp);

}  // namespace cudal1::sim
