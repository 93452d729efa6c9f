// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine.hpp"

#include <cstdint>
#include <vector>

namespace cudal1::sim {

// The shadows of a bulk copy's bytes on their way, beside the bytes themselves. Without shadows in the program it does nothing.
class BulkShadows {
 public:
  // All bytes are zeros at first.
  BulkShadows(Warp& warp, std::uint32_t bytes);
  // `bytes` to or from place `at` of what is on its way; all are even. Shared memory is that of a block, by offset.
  void take_global(std::uint64_t address, std::uint32_t at, std::uint32_t bytes);
  void take_shared(Block& block, std::uint64_t offset, std::uint32_t at, std::uint32_t bytes);
  void give_global(std::uint64_t address, std::uint32_t at, std::uint32_t bytes);
  void give_shared(Block& block, std::uint64_t offset, std::uint32_t at, std::uint32_t bytes);
  // A float at `at` has other bits now and is the same number, rounded.
  void rename(std::uint32_t at, std::uint32_t before, std::uint32_t after);
  // What is on its way is added to floats at an address: `before` holds their bytes before, `after` afterwards.
  void add_global(std::uint64_t address, std::uint32_t at, const std::byte* before, const std::byte* given, const std::byte* after, std::uint32_t bytes);
  bool on() const { return !values_.empty(); }

 private:
  Warp& warp_;
  std::vector<double> values_;
  std::vector<std::uint32_t> tags_;
};

}  // namespace cudal1::sim
