// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace cudal1::sim {

// What one static access did, in all blocks counted.
struct SiteTotal {
  double requests = 0, sectors = 0, wavefronts = 0, ideal = 0;
};

// Machine instructions of all warps, by the pipe that runs them (InstructionCost), and products of tensor cores.
struct PipeWork {
  double slots = 0, fp32 = 0, integer = 0, special = 0, fp64 = 0, half = 0, memory = 0;
  double products = 0, operands = 0, product_flops = 0;   // of wgmma
};

// Turns what the workers counted per segment and per access into counters, whole and by source line.
struct Tally {
  outcome::Counters total;
  outcome::LineCounters lines;
  std::vector<SiteTotal> sites;
  PipeWork work;
  // Sectors asked of each buffer: what goes to DRAM is bounded by the buffer's size.
  struct Buffer {
    double bytes = 0, load_sectors = 0, store_sectors = 0;
  };
  std::map<std::uint32_t, Buffer> buffers;

  // From a sample to all the blocks it stands for.
  void scale(double factor);
  void add(const Tally& other);
  // The traffic below the L1 as if every buffer were moved once.
  void finish();
};
Tally count(const Launch& launch, const std::vector<std::unique_ptr<Worker>>& workers, std::uint64_t blocks);

}  // namespace cudal1::sim
