// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "families/row_passes.hpp"
#include "families/variant.hpp"
#include "schedule/region.hpp"

#include <cstdint>
#include <vector>

namespace cudal1::families {

// What the geometry of a kernel that walks rows depends on.
struct RowTask {
  const Region& region;
  const Dag& dag;
  Walk walk = Walk::rows;
  int splits = 1;       // blocks that share a row and leave parts
  bool totals = false;  // what rows give is reduced by the blocks that walk them
  const Variant& variant;
  const schedule::Machine& machine;
  bool tuned = true;  // tunables may have more than their first value
};

// How many threads and blocks rows get, and what a thread has of them: numbers alone. Where there are several values, they are those
// of a tunable, the first one first.
struct RowGeometry {
  enum class Blocks {
    short_lived,  // a block has one row, or as many as it has threads for
    prefetching,  // persistent: the next row is on its way to shared memory
    team,         // persistent: several blocks hold a row together
  };
  int vec = 1;         // as in RowLayout
  bool pieces = true;  // as in RowLayout
  int beside = 1;      // neighbouring rows of a thread that walks columns
  Blocks blocks = Blocks::short_lived;
  bool cached = false;          // rows stay in registers between passes
  bool rows_per_block = false;  // blocks have several rows where a row has few threads
  std::int64_t columns = 1;     // elements of a row, at most
  std::int64_t packs = 1;       // of `vec` elements
  std::vector<std::int64_t> threads, items, rows;  // of a row; packs of a thread, of pointwise kernels; rows of a block that walks columns
  std::vector<std::int64_t> totals_blocks;
  // Of teams: how many blocks have a row, how many blocks there are, how many packs a thread has at most, and as many as all teams
  // together may have under way: at least one part in `slack` of that, for `multiprocessors`.
  std::vector<std::int64_t> team, team_blocks;
  std::int64_t of_thread = 0, capacity = 0, slack = 0;
  int multiprocessors = 0;
  Meeting meeting;
};

RowGeometry geometry_of(const RowTask& task, const RowPasses& passes);

}  // namespace cudal1::families
