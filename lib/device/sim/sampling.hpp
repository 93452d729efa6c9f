// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/random.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace cudal1::sim {

// Blocks of one kind, and how many blocks of the grid they stand for.
struct BlockClass {
  std::vector<std::uint64_t> chosen;  // linear block numbers, ascending
  double population = 0;
};

// Whether each class must be among a few blocks, however few of the grid's blocks it has.
enum class Edges { always, in_proportion };

// Splits a grid by where a block lies along each axis (first, last, between), because edges often do other work, and chooses about
// `most` blocks in all, in proportion; inner ones lie at random in equal stretches, so that nobody can know which. All blocks
// where they are few.
std::vector<BlockClass> sample_blocks(const std::array<std::uint32_t, 3>& grid, double most, Edges edges, base::Random& random);

}  // namespace cudal1::sim
