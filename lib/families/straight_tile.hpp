// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "families/windows.hpp"

#include <cstdint>
#include <optional>

namespace cudal1::families {

// Taps along an axis as a straight convolution meets them: `most` of them at once, of `classes` kinds. Only of a transposed convolution with a
// stride there are several, one for each residue of the results that meets taps of its own.
struct MetTaps {
  std::int64_t classes, most, step;  // step: from a tap's input to the next one's
};
MetTaps met_taps(const Node& node, const Window& window);

// Of each of two warpgroups: a tile of places, its window of inputs, and what of both a warp and a product of 16 rows has.
struct StraightTile {
  std::int64_t columns, channels;             // results; channels of a step
  std::int64_t block_h, block_w;              // products of a warp
  std::int64_t pair_h, pair_w;                // from the first eight places of a product to the other eight
  std::int64_t warps_w;                       // beside each other
  std::int64_t strip_h, strip_w;              // of a warp
  std::int64_t height, width;                 // of the tile
  std::int64_t lines, pitch, plane;           // of the window, in floats
  std::int64_t windows = 0, slots = 0;        // that shared memory has room for
  double clocks = 0;                          // of the whole convolution, expected
  std::int64_t slot_bytes(const MetTaps& down) const { return channels * down.most * columns * 4; }
  std::int64_t shared_bytes(const MetTaps& down) const { return slots * slot_bytes(down) + 2 * windows * channels * plane * 4; }
};

// The one that should take the least time; none where shared memory has no room for any.
std::optional<StraightTile> straight_tile(const Node& node, const Node& input, const Windows& windows, const schedule::Machine& machine);

}  // namespace cudal1::families
