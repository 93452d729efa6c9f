// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/random.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace cudal1::sim {

// Which bytes of each 4-byte word were written: one flag byte per word, bit k for byte k. `in_flight` marks a word that an
// asynchronous copy has yet to deliver (shared memory only).
using WordFlags = std::uint8_t;
inline constexpr WordFlags word_written = 0x0f;
inline constexpr WordFlags word_in_flight = 0x80;

struct ShadowCells;

// A piece of simulated device memory. Its device address has nothing to do with its place on the host.
struct Allocation {
  std::uint64_t base = 0;
  std::size_t bytes = 0;
  std::byte* host = nullptr;         // 64-byte aligned, with 64 spare bytes behind the end
  WordFlags* written = nullptr;      // null: every byte was written
  std::string name;
  std::uint32_t id = 0;
  bool hidden = false;               // not the user's: no message names it
  bool read_only = false;            // an input of the plan that runs
  bool intruded = false;             // … that was written all the same

  std::unique_ptr<std::byte[], void (*)(std::byte*)> storage{nullptr, nullptr};
  std::vector<WordFlags> flags;
  std::shared_ptr<ShadowCells> shadow;  // while a launch with shadows runs
  bool watched = false;              // global races are looked for
  // Who touched a word last in this launch: block number + 1; where no Ordering knows it better.
  std::vector<std::uint32_t> writers, readers;

  bool covers(std::uint64_t low, std::uint64_t high) const { return low >= base && high <= base + bytes && low <= high; }
};

// The simulated global memory: allocations at addresses of its own with wide unmapped gaps between them, so that a wild
// access hits nothing. Not thread-safe; find() is safe while nothing is allocated or released.
class GlobalMemory {
 public:
  // From now on addresses are drawn, so that no kernel can tell what was allocated early from what was allocated late.
  void scatter(std::uint64_t seed);
  Allocation& allocate(std::size_t bytes, const std::string& name, std::size_t align = 512);
  void release(std::uint32_t id);
  Allocation* by_id(std::uint32_t id);

  // The allocation that holds [low, high) wholly; null: none.
  Allocation* find(std::uint64_t low, std::uint64_t high) const;
  // The allocation near an address that a message names; null when none is near.
  const Allocation* nearest(std::uint64_t address) const;

  void write(Allocation& allocation, std::size_t offset, std::span<const std::byte> bytes);
  void poison(Allocation& allocation, std::size_t offset, std::size_t bytes, std::uint32_t word);
  void mark_written(Allocation& allocation, std::size_t offset, std::size_t bytes);
  void copy_flags(const Allocation& from, std::size_t from_offset, Allocation& to, std::size_t to_offset, std::size_t bytes);

  std::map<std::uint64_t, std::unique_ptr<Allocation>>& all() { return by_base_; }

 private:
  void keep_flags(Allocation& allocation);
  std::uint64_t place(std::size_t bytes, std::size_t align);

  std::map<std::uint64_t, std::unique_ptr<Allocation>> by_base_;
  std::vector<Allocation*> sorted_;
  std::map<std::uint32_t, Allocation*> by_id_;
  std::uint64_t next_ = std::uint64_t{1} << 41;
  std::uint32_t next_id_ = 1;
  std::optional<base::Random> random_;
  std::vector<std::uint64_t> free_places_;   // of scattered allocations, in any order
};

// A store to an input is kept in mind, because what is restored before the end shows in no byte. Blocks may do it at the same time.
inline void note_store(Allocation* allocation) {
  if (allocation != nullptr && allocation->read_only) __atomic_store_n(&allocation->intruded, true, __ATOMIC_RELAXED);
}

// Marks [offset, offset + bytes) in a flag array that covers memory from offset 0.
void set_written(WordFlags* flags, std::size_t offset, std::size_t bytes);
void clear_written(WordFlags* flags, std::size_t offset, std::size_t bytes);
bool all_written(const WordFlags* flags, std::size_t offset, std::size_t bytes);

}  // namespace cudal1::sim
