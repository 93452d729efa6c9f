// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/counting.hpp"
#include "sim/machine.hpp"
#include "sim/traffic.hpp"

#include <vector>

namespace cudal1::sim {

// Cycles that a recorded warp takes when nothing else runs: its instructions wait for their operands, loads for as long as the
// reach of their site says. Within a straight run ptxas may move instructions past each other, so there only operands, and loads
// behind stores, wait; across runs the order stands. `totals` tell the bank conflicts of shared accesses.
double warp_cycles(const Program& program, const Recording::Log& log, const std::vector<SiteReach>& reach, const std::vector<SiteTotal>& totals,
                   unsigned warps_per_block);

}  // namespace cudal1::sim
