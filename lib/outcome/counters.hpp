// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace cudal1::outcome {

// What one launch did, counted by the simulator (or by CUPTI where a field has a counterpart).
// Instructions are warp instructions; bytes are bytes; a sector is 32 bytes.
struct Counters {
  double warp_instructions = 0, lane_instructions = 0;
  double fp32_flops = 0, fp64_flops = 0, fp16_flops = 0, tensor_flops = 0;
  double integer_instructions = 0, special_instructions = 0, control_instructions = 0;
  double global_load_requests = 0, global_load_sectors = 0, global_load_bytes = 0;     // bytes asked for by lanes
  double global_store_requests = 0, global_store_sectors = 0, global_store_bytes = 0;
  double dram_read_bytes = 0, dram_write_bytes = 0, l2_bytes = 0;
  double shared_requests = 0, shared_wavefronts = 0;                                   // equal: no bank conflict
  double local_sectors = 0;
  double atomic_requests = 0, atomic_serial_steps = 0;
  double divergent_branches = 0, branches = 0, barriers = 0;
  double blocks = 0, threads = 0;

  double sectors_per_request() const;   // of global loads and stores; 4 is ideal for 4-byte accesses
  Counters& operator+=(const Counters& other);
  Counters scaled(double factor) const;
};

// Counters per source line of the kernel file, for the hottest lines.
using LineCounters = std::map<int, Counters>;

}  // namespace cudal1::outcome
