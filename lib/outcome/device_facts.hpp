// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace cudal1::outcome {

// A GPU: one that is present, or the one that the simulator stands for. Rates are per second; 0 means not known.
struct DeviceFacts {
  std::string name;              // "NVIDIA H200"
  std::string uuid;              // empty on the simulator
  std::string driver;            // "580.65.06"; empty on the simulator
  bool simulated = false;
  int major = 0, minor = 0;      // compute capability
  int sm_count = 0;
  double clock_hz = 0;
  std::size_t memory_bytes = 0;
  double memory_bytes_per_second = 0;       // datasheet, or measured by a copy when `memory_rate_measured`
  bool memory_rate_measured = false;
  std::size_t l2_bytes = 0;
  std::size_t shared_bytes_per_sm = 0, shared_bytes_per_block_optin = 0;
  int registers_per_sm = 65536, max_threads_per_sm = 2048, max_blocks_per_sm = 32;
  double fp32_flops = 0, fp64_flops = 0, fp16_tensor_flops = 0, tf32_tensor_flops = 0;

  // "sm_90a" for 9.0, "sm_100a" for 10.0, "sm_80" …: what a cubin for exactly this device is made for.
  std::string arch() const;
};

// Resident blocks per SM for a kernel, from registers, shared memory and threads, and which of them limits.
struct Occupancy {
  int blocks_per_sm = 0;
  double fraction = 0;        // of the SM's warps
  std::string limited_by;     // "registers", "shared memory", "threads", "blocks"
};
Occupancy occupancy(const DeviceFacts& device, int registers, std::size_t shared_bytes, int threads_per_block);

}  // namespace cudal1::outcome
