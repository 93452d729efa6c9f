// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace cudal1::sim {

// For each node of a flow graph its immediate post-dominator: where the two sides of a branch there meet again. The exit is
// node `successors.size()`; a node without successors leads to it. Nodes that never reach it get the exit too.
std::vector<std::uint32_t> post_dominators(const std::vector<std::vector<std::uint32_t>>& successors);

}  // namespace cudal1::sim
