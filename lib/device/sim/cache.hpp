// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudal1::sim {

// A cache of 128-byte lines in sectors of 32 bytes, sixteen ways, least recently used line out first.
class SectorCache {
 public:
  explicit SectorCache(std::size_t bytes);
  // Of the sectors in `mask` of a line, those that were absent; all of them are present afterwards.
  unsigned touch(std::uint64_t line, unsigned mask);

 private:
  struct Way {
    std::uint64_t line = ~std::uint64_t{0};
    std::uint32_t used = 0;
    std::uint32_t sectors = 0;
  };
  static constexpr std::size_t line_bytes = 128, most_ways = 16;
  std::size_t ways_, sets_;
  std::uint32_t clock_ = 0;
  std::vector<Way> table_;
};

}  // namespace cudal1::sim
