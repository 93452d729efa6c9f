// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "families/windows.hpp"
#include "schedule/machine.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace cudal1::families {

// How the inputs that a tile of a convolution's results needs lie in shared memory, where all taps find them: row by row,
// the columns of a strip of results wide.
struct HaloTile {
  // Along the last two axes, where a result's inputs begin, seen from its neighbour's: as many rows or columns further, though
  // no more than a window spans, so that what no tap meets is left out.
  struct Axis {
    std::string span, low, row, shift;  // C
  };
  Axis h, w;
  std::int64_t strip = 1;  // columns of results
  std::int64_t line = 1;   // floats from row to row
  std::int64_t lanes = 1;  // threads that copy a plane
  std::string strips;      // how many strips there are
  std::string positions;   // in a strip
  std::string floats;      // of shared memory for the ring and its table
  bool packs = true;       // rows may be copied 16 bytes at a time
};

// For tiles of `tile` results, a tunable of 128 at most, and `stages` steps of 32 depths on their way; nothing where the
// inputs' places are 2^31 or more, or where an SM has no room for two tiles of 64 output channels.
std::optional<HaloTile> halo_tile(const Node& node, const Node& input, const Windows& windows, const std::string& tile,
                                      std::int64_t stages, const schedule::Machine& machine);

}  // namespace cudal1::families
