// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "families/windows.hpp"
#include "schedule/machine.hpp"

#include <cstdint>
#include <optional>

namespace cudal1::families {

// Taps along an axis that meet results together: of a transposed convolution those of a residue, of any other those of a phase, at most.
std::int64_t most_taps(const Window& window);

// Channels of a step of the depth of warpgroups' convolutions; a line of them has 32, 64 or 128 bytes.
std::int64_t step_channels(std::int64_t channels);

// A tile of results: `rows` channels, and places of width by height by samples among `columns`; its inputs are a window with a halo.
struct PlaceTile {
  std::int64_t rows, columns, width, height, samples;
  std::int64_t pitch, lines, copied, places;  // of a window: places of a line, lines of a sample, places that are copied, places that are read
  std::int64_t windows = 0, slots = 0;        // of inputs and of weights that shared memory holds
  bool kept = false;                          // all weights of a block's tiles have slots
  double share = 0, worth = 0;                // of the places that exist
};

// The tile that should take the least time for a convolution with that many halves; none where its window finds no room in shared memory.
std::optional<PlaceTile> convolution_tile(const Node& node, const Node& input, const Windows& windows, int halves, const schedule::Machine& machine);

}  // namespace cudal1::families
