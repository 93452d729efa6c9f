// SPDX-License-Identifier: Apache-2.0
#include "sim/recording.hpp"

#include "sim/machine.hpp"

#include <algorithm>
#include <bit>

namespace cudal1::sim {

namespace {

constexpr std::uint64_t local_base = std::uint64_t{1} << 60;

class Entry {
 public:
  Entry(Warp& warp, const Instruction& instruction) : recording_(*warp.block->recording), warp_(warp), site_(instruction.site) {
    first_ = recording_.places.size();
  }
  bool full() const { return first_ >= Recording::most_places; }
  void bytes(std::uint64_t address, std::uint64_t count) {
    if (address - shared_window < window_bytes || address - local_window < window_bytes) return;
    for (std::uint64_t sector = address / 32; sector <= (address + count - 1) / 32; ++sector) recording_.places.push_back(sector);
  }
  void word(std::uint64_t address) {
    if (address - shared_window >= window_bytes) recording_.places.push_back(address / 4);
  }
  void close(bool distinct) {
    auto& places = recording_.places;
    const auto begin = places.begin() + static_cast<std::ptrdiff_t>(first_);
    if (distinct) {
      if (!std::is_sorted(begin, places.end())) std::sort(begin, places.end());
      places.erase(std::unique(begin, places.end()), places.end());
    }
    if (places.size() == first_) return;
    recording_.warps[warp_.index].accesses.push_back(
        {site_, static_cast<std::uint32_t>(first_), static_cast<std::uint32_t>(places.size() - first_)});
  }

 private:
  Recording& recording_;
  Warp& warp_;
  std::uint32_t site_;
  std::size_t first_;
};

template <class F>
void each_lane(const Warp& warp, F use) {
  for (std::uint32_t rest = warp.mask; rest; rest &= rest - 1) use(static_cast<unsigned>(std::countr_zero(rest)));
}

}  // namespace

void record(Warp& warp, const Instruction& instruction, const std::uint64_t* addresses, unsigned bytes) {
  Entry entry(warp, instruction);
  if (entry.full()) return;
  each_lane(warp, [&](unsigned lane) { entry.bytes(addresses[lane] + static_cast<std::uint64_t>(instruction.immediate), bytes); });
  entry.close(true);
}

void record_local(Warp& warp, const Instruction& instruction, const std::uint64_t* addresses, unsigned bytes) {
  Entry entry(warp, instruction);
  if (entry.full()) return;
  // Each warp of each block has memory of its own.
  const std::uint64_t local = warp.worker->launch->program->local_bytes;
  const std::uint64_t base = local_base + (warp.block->number * warp.block->warps.size() + warp.index) * local * 32;
  each_lane(warp, [&](unsigned lane) {
    const std::uint64_t address = addresses[lane] + static_cast<std::uint64_t>(instruction.immediate);
    for (std::uint64_t k = 0; k < bytes; k += 4) entry.bytes(base + local_place(address + k, lane), 1);
  });
  entry.close(true);
}

void record_atomic(Warp& warp, const Instruction& instruction, const std::uint64_t* addresses) {
  Entry entry(warp, instruction);
  if (entry.full()) return;
  each_lane(warp, [&](unsigned lane) { entry.word(addresses[lane] + static_cast<std::uint64_t>(instruction.immediate)); });
  entry.close(false);
}

void record_lines(Warp& warp, const Instruction& instruction, std::uint64_t address, std::uint64_t step, unsigned count, unsigned bytes) {
  Entry entry(warp, instruction);
  if (entry.full()) return;
  for (unsigned k = 0; k < count; ++k) entry.bytes(address + k * step, bytes);
  entry.close(true);
}

}  // namespace cudal1::sim
