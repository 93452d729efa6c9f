// SPDX-License-Identifier: Apache-2.0
#include "sim/sampling.hpp"

#include <algorithm>
#include <cmath>

namespace cudal1::sim {

namespace {

struct Stretch {
  std::uint64_t first = 0, count = 0;
};

std::vector<Stretch> stretches(std::uint32_t extent) {
  if (extent == 1) return {{0, 1}};
  if (extent == 2) return {{0, 1}, {1, 1}};
  return {{0, 1}, {1, extent - 2}, {extent - 1, 1}};
}

}  // namespace

std::vector<BlockClass> sample_blocks(const std::array<std::uint32_t, 3>& grid, double most, Edges edges, base::Random& random) {
  const double total = static_cast<double>(grid[0]) * grid[1] * grid[2];
  std::vector<BlockClass> classes;
  for (const Stretch& z : stretches(grid[2]))
    for (const Stretch& y : stretches(grid[1]))
      for (const Stretch& x : stretches(grid[0])) {
        BlockClass one;
        const std::uint64_t count = x.count * y.count * z.count;
        one.population = static_cast<double>(count);
        const double share = most * one.population / total;
        const double rounded = edges == Edges::always ? std::ceil(share) : std::floor(share + random.uniform());
        const std::uint64_t wanted = std::min(count, static_cast<std::uint64_t>(rounded));
        for (std::uint64_t k = 0; k < wanted; ++k) {
          const std::uint64_t start = k * count / wanted, end = (k + 1) * count / wanted;
          const std::uint64_t at = start + random.below(end - start);
          const std::uint64_t bx = x.first + at % x.count, by = y.first + at / x.count % y.count, bz = z.first + at / x.count / y.count;
          one.chosen.push_back((bz * grid[1] + by) * grid[0] + bx);
        }
        std::sort(one.chosen.begin(), one.chosen.end());
        one.chosen.erase(std::unique(one.chosen.begin(), one.chosen.end()), one.chosen.end());
        classes.push_back(std::move(one));
      }
  return classes;
}

}  // namespace cudal1::sim
