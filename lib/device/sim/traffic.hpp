// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/device_facts.hpp"
#include "sim/counting.hpp"
#include "sim/machine.hpp"
#include "sim/recording.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace cudal1::sim {

// What a launch moves below its registers, estimated from recorded blocks. Sectors are of 32 bytes, lines of 128.
struct Traffic {
  double load_lines = 0, store_lines = 0;           // lines touched, summed over warp accesses
  double shared_wavefronts = 0;                     // after ptxas has joined neighbouring loads
  double l1_sectors = 0;                            // asked of the L1: loads, and all of local memory
  double l2_read_sectors = 0, l2_write_sectors = 0;
  double dram_read_bytes = 0, dram_write_bytes = 0;
  double dram_runs = 0;                             // stretches that DRAM reads are made of
  // An atomic access takes a step for each sector it touches, or several where lanes meet in a word. Steps of one line wait for
  // each other.
  double atomic_steps = 0, hottest_line_steps = 0;
};

// How far a site's loads have to go, on average over warp accesses.
struct SiteReach {
  double lines = 1;              // per access
  double past_l1 = 1, past_l2 = 1;  // share of accesses that wait for the L2, for DRAM
};

// How the launch lies on the GPU.
struct Residency {
  std::uint64_t blocks_per_sm = 1, blocks = 1;      // resident on one SM, on all
  std::size_t l1_bytes = 0;                         // of one SM, what shared memory leaves
};
Residency residency(const outcome::DeviceFacts& gpu, int registers, std::size_t shared_bytes, int threads_per_block, std::uint64_t grid);

// Blocks recorded for the estimate: a whole wave of neighbours if `whole_wave`, else the first one and its neighbours in x, y, z.
struct RecordedBlocks {
  const Recordings* recordings = nullptr;
  bool whole_wave = false;
  std::uint64_t first = 0;
  std::array<std::uint64_t, 3> neighbours{};        // equal to `first` where the grid has none
};

// Site totals are of the whole launch.
Traffic traffic(const Launch& launch, const outcome::DeviceFacts& gpu, const Residency& residency, const RecordedBlocks& blocks,
                const std::vector<SiteTotal>& totals, std::vector<SiteReach>& reach);

}  // namespace cudal1::sim
