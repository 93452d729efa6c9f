// SPDX-License-Identifier: Apache-2.0
#include "sim/sampling.hpp"

#include <algorithm>
#include <set>

namespace cudal1::sim {

std::vector<std::uint64_t> sample_blocks(const std::array<std::uint32_t, 3>& grid, std::uint64_t most) {
  const std::uint64_t total = static_cast<std::uint64_t>(grid[0]) * grid[1] * grid[2];
  std::set<std::uint64_t> chosen;
  if (total <= most) {
    for (std::uint64_t k = 0; k < total; ++k) chosen.insert(k);
    return {chosen.begin(), chosen.end()};
  }
  // Evenly spread at an odd stride through the grid, so that no column or row is favoured.
  const std::uint64_t count = std::max<std::uint64_t>(1, most);
  for (std::uint64_t k = 0; k < count; ++k) {
    const std::uint64_t at = static_cast<std::uint64_t>((static_cast<double>(k) + 0.5) / static_cast<double>(count) * static_cast<double>(total));
    chosen.insert(std::min(total - 1, at + (k * 7919) % std::max<std::uint64_t>(1, total / count)));
  }
  return {chosen.begin(), chosen.end()};
}

}  // namespace cudal1::sim
