// SPDX-License-Identifier: Apache-2.0
#include "outcome/device_facts.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::outcome {

namespace {

// Allocation granularities of compute capability 7.0 to 12.x, from cuda_occupancy.h of the CUDA Toolkit.
constexpr int warp_size = 32, register_unit_per_warp = 256, warp_unit = 4;
constexpr std::size_t shared_unit = 128, old_shared_unit = 256, shared_reserved_per_block = 1024;   // old: before 8.0, which reserves nothing

template <typename T>
T round_up(T value, T unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

std::string DeviceFacts::arch() const {
  // Features that only exist in the architecture-specific target (wgmma and later) need the "a".
  return fmt::format("sm_{}{}{}", major, minor, major >= 9 ? "a" : "");
}

Occupancy occupancy(const DeviceFacts& device, int registers, std::size_t shared_bytes, int threads_per_block) {
  Occupancy result;
  if (threads_per_block <= 0) return result;
  const int warps = round_up((threads_per_block + warp_size - 1) / warp_size, 1);
  const int max_warps = device.max_threads_per_sm / warp_size;

  int best = device.max_blocks_per_sm;
  result.limited_by = "blocks";
  const auto limit = [&](int blocks, const char* by) {
    if (blocks < best) best = blocks, result.limited_by = by;
  };
  limit(max_warps / warps, "threads");
  if (registers > 0) {
    const int per_warp = round_up(registers * warp_size, register_unit_per_warp);
    const int warps_by_registers = device.registers_per_sm / per_warp / warp_unit * warp_unit;
    limit(warps_by_registers / warps, "registers");
  }
  if (device.shared_bytes_per_sm > 0 && shared_bytes > 0) {
    const std::size_t per_block = device.major > 0 && device.major < 8 ? round_up(shared_bytes, old_shared_unit) : round_up(shared_bytes + shared_reserved_per_block, shared_unit);
    limit(static_cast<int>(device.shared_bytes_per_sm / per_block), "shared memory");
  }
  result.blocks_per_sm = std::max(best, 0);
  result.fraction = max_warps > 0 ? std::min(1.0, static_cast<double>(result.blocks_per_sm) * warps / max_warps) : 0;
  return result;
}

}  // namespace cudal1::outcome
