// SPDX-License-Identifier: Apache-2.0
#include "sim/cache.hpp"

#include <algorithm>

namespace cudal1::sim {

SectorCache::SectorCache(std::size_t bytes)
    : ways_(std::clamp<std::size_t>(bytes / line_bytes, 1, most_ways)), sets_(std::max<std::size_t>(1, bytes / line_bytes / ways_)), table_(ways_ * sets_) {}

unsigned SectorCache::touch(std::uint64_t line, unsigned mask) {
  // Strides that are powers of two spread over all sets, as they do on the hardware.
  const std::uint64_t mixed = (line ^ line >> 9 ^ line >> 18) * 0x9e3779b97f4a7c15ull >> 32;
  Way* const set = table_.data() + mixed % sets_ * ways_;
  Way* oldest = set;
  ++clock_;
  for (Way* way = set; way != set + ways_; ++way) {
    if (way->line == line) {
      const unsigned absent = mask & ~way->sectors;
      way->sectors |= mask;
      way->used = clock_;
      return absent;
    }
    if (way->used < oldest->used) oldest = way;
  }
  *oldest = {line, clock_, mask};
  return mask;
}

}  // namespace cudal1::sim
