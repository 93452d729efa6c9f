// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cudal1::sim {
namespace {
namespace warpgroup {

// A matrix in shared memory as its descriptor says it.
struct Descriptor {
  std::uint32_t start, leading, stride, swizzle;   // swizzle: 16-byte pieces of a row: 1 none, 2, 4, 8
  std::uint32_t base_offset;
  explicit Descriptor(std::uint64_t bits)
      : start(static_cast<std::uint32_t>(bits & 0x3fff) << 4), leading(static_cast<std::uint32_t>(bits >> 16 & 0x3fff) << 4), stride(static_cast<std::uint32_t>(bits >> 32 & 0x3fff) << 4),
        swizzle(1), base_offset(static_cast<std::uint32_t>(bits >> 49 & 7)) {
    const std::uint32_t mode = static_cast<std::uint32_t>(bits >> 62);
    swizzle = mode == 0 ? 1 : mode == 1 ? 8 : mode == 2 ? 4 : 2;
  }
  // Of 16 bytes: `outer` counts rows (or columns) of the matrix, `piece` its 16-byte pieces along k. Where the matrix is
  // transposed in memory, `outer` counts pieces and `piece` counts k.
  std::uint32_t place(std::uint32_t outer, std::uint32_t piece, bool transposed) const {
    std::uint32_t offset = 0;
    if (!transposed) {
      offset = outer / 8 * stride + outer % 8 * 16 * swizzle + piece * (swizzle == 1 ? leading : 16);
    } else if (swizzle == 1) {
      offset = outer * stride + piece % 8 * 16 + piece / 8 * leading;
    } else {
      offset = outer % swizzle * 16 + outer / swizzle * leading + piece % 8 * 16 * swizzle + piece / 8 * stride;
    }
    const std::uint32_t address = start + offset;
    return address ^ (address >> 7 & (swizzle - 1)) << 4;
  }
};

}  // namespace warpgroup
}  // namespace
}  // namespace cudal1::sim
