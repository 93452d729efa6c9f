// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace cudal1::sim {

// Turns what the workers counted per segment and per access into counters, whole and by source line.
struct Tally {
  outcome::Counters total;
  outcome::LineCounters lines;
  // Sectors asked of each buffer: what goes to DRAM is bounded by the buffer's size.
  struct Buffer {
    double bytes = 0, load_sectors = 0, store_sectors = 0;
  };
  std::map<std::uint32_t, Buffer> buffers;

  // From a sample to the whole grid, then the traffic below the L1.
  void finish(double factor);
};
Tally count(const Launch& launch, const std::vector<std::unique_ptr<Worker>>& workers, std::uint64_t blocks);

}  // namespace cudal1::sim
