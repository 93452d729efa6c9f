// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/element.hpp"

#include <array>
#include <cstdint>

namespace cudal1::sim {

// What stands in place of the 128 bytes that a driver encodes a tensor map as. The first axis is the innermost.
struct TensorMapHandle {
  static constexpr std::uint64_t is_one = 0x70616d726f736e74;
  std::uint64_t magic = is_one;
  std::uint64_t address = 0;
  std::uint8_t rank = 1, element_bytes = 4, swizzle_pieces = 1;  // 16-byte pieces of a swizzled row: 1 none, 2, 4, 8
  std::uint8_t rounds_to_tf32 = 0;
  Element element = Element::f32;
  std::uint8_t spare[3]{};
  std::array<std::uint32_t, 5> extent{};
  std::array<std::uint16_t, 5> box{};
  std::array<std::uint64_t, 4> stride{};                         // bytes, of the second axis on
};
static_assert(sizeof(TensorMapHandle) <= 128);

}  // namespace cudal1::sim
