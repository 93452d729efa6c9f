// SPDX-License-Identifier: Apache-2.0
#include "sim/memory.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

namespace cudal1::sim {

namespace {

constexpr std::uint64_t gap = std::uint64_t{1} << 30;  // bytes of nothing between two allocations
constexpr std::size_t spare = 64;
constexpr std::uint64_t place_bytes = std::uint64_t{1} << 36, first_place = 32, last_place = 1023;  // of scattered allocations

template <typename F>
void each_word(std::size_t offset, std::size_t bytes, F apply) {
  std::size_t at = offset;
  const std::size_t end = offset + bytes;
  while (at < end) {
    const std::size_t word = at / 4, stop = std::min(end, word * 4 + 4);
    apply(word, static_cast<WordFlags>(((1u << (stop - at)) - 1) << (at % 4)));
    at = stop;
  }
}

}  // namespace

void set_written(WordFlags* flags, std::size_t offset, std::size_t bytes) {
  if (offset % 4 == 0 && bytes % 4 == 0) {
    std::memset(flags + offset / 4, word_written, bytes / 4);
    return;
  }
  // Two blocks may write different bytes of one word at the same time.
  each_word(offset, bytes, [&](std::size_t word, WordFlags bits) {
    const WordFlags before = __atomic_fetch_or(flags + word, bits, __ATOMIC_RELAXED);
    if (before & ~(word_written | word_in_flight)) __atomic_fetch_and(flags + word, word_written | word_in_flight, __ATOMIC_RELAXED);
  });
}

void clear_written(WordFlags* flags, std::size_t offset, std::size_t bytes) {
  each_word(offset, bytes, [&](std::size_t word, WordFlags bits) { flags[word] = static_cast<WordFlags>(flags[word] & ~bits); });
}

bool all_written(const WordFlags* flags, std::size_t offset, std::size_t bytes) {
  bool all = true;
  each_word(offset, bytes, [&](std::size_t word, WordFlags bits) { all = all && (flags[word] & bits) == bits; });
  return all;
}

void GlobalMemory::scatter(std::uint64_t seed) {
  random_.emplace(seed, 12);
  for (std::uint64_t i = first_place; i <= last_place; ++i) free_places_.push_back(i * place_bytes);
}

// Scattered or not, the lower bits are those of allocations in a row: which lines of a cache they share is part of a prediction.
std::uint64_t GlobalMemory::place(std::size_t bytes, std::size_t align) {
  align = std::max<std::size_t>(align, 512);
  next_ = (next_ + align - 1) / align * align;
  const std::uint64_t in_a_row = next_;
  next_ += bytes + gap;
  if (!random_) return in_a_row;
  if (free_places_.empty() || bytes > place_bytes - 2 * gap) return in_a_row + (last_place + 1) * place_bytes;
  std::swap(free_places_[random_->below(free_places_.size())], free_places_.back());
  const std::uint64_t drawn = free_places_.back();
  free_places_.pop_back();
  return drawn + in_a_row % gap;
}

Allocation& GlobalMemory::allocate(std::size_t bytes, const std::string& name, std::size_t align) {
  auto made = std::make_unique<Allocation>();
  const std::size_t room = (bytes + 2 * spare - 1) / spare * spare;
  auto* host = static_cast<std::byte*>(std::aligned_alloc(spare, room));
  if (!host)
    throw base::Error(base::Fault::no_device,
                      fmt::format("the simulator has no memory for {} bytes of {}; use smaller sizes", bytes, name));
  made->storage = {host, [](std::byte* memory) { std::free(memory); }};
  std::memset(host + bytes, 0, room - bytes);
  made->base = place(bytes, align);
  made->bytes = bytes;
  made->host = host;
  made->name = name;
  made->id = next_id_++;
  Allocation& result = *made;
  keep_flags(result);
  std::fill(result.flags.begin(), result.flags.end(), WordFlags{0});
  by_id_[result.id] = &result;
  sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), &result, [](const Allocation* left, const Allocation* right) { return left->base < right->base; }), &result);
  by_base_[result.base] = std::move(made);
  return result;
}

void GlobalMemory::release(std::uint32_t id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return;
  const std::uint64_t base = found->second->base;
  std::erase(sorted_, found->second);
  by_id_.erase(found);
  by_base_.erase(base);
  if (random_ && base < (last_place + 1) * place_bytes) free_places_.push_back(base / place_bytes * place_bytes);
}

Allocation* GlobalMemory::by_id(std::uint32_t id) {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

Allocation* GlobalMemory::find(std::uint64_t low, std::uint64_t high) const {
  const auto after = std::upper_bound(sorted_.begin(), sorted_.end(), low,
                                      [](std::uint64_t address, const Allocation* a) { return address < a->base; });
  if (after == sorted_.begin()) return nullptr;
  Allocation* candidate = *(after - 1);
  return candidate->covers(low, high) ? candidate : nullptr;
}

const Allocation* GlobalMemory::nearest(std::uint64_t address) const {
  const Allocation* best = nullptr;
  std::uint64_t least = gap / 2;
  for (const Allocation* a : sorted_) {
    if (a->hidden) continue;
    const std::uint64_t distance = address < a->base ? a->base - address : address >= a->base + a->bytes ? address - (a->base + a->bytes) : 0;
    if (distance < least) least = distance, best = a;
  }
  return best;
}

void GlobalMemory::keep_flags(Allocation& allocation) {
  if (allocation.written) return;
  allocation.flags.assign(allocation.bytes / 4 + spare, word_written);
  allocation.written = allocation.flags.data();
}

void GlobalMemory::mark_written(Allocation& allocation, std::size_t offset, std::size_t bytes) {
  if (!allocation.written || bytes == 0) return;
  if (offset == 0 && bytes == allocation.bytes) {
    allocation.written = nullptr;
    allocation.flags = {};
    return;
  }
  set_written(allocation.written, offset, bytes);
}

void GlobalMemory::write(Allocation& allocation, std::size_t offset, std::span<const std::byte> bytes) {
  if (!bytes.empty()) std::memcpy(allocation.host + offset, bytes.data(), bytes.size());
  mark_written(allocation, offset, bytes.size());
}

void GlobalMemory::poison(Allocation& allocation, std::size_t offset, std::size_t bytes, std::uint32_t word) {
  for (std::size_t i = 0; i < bytes; i += 4) std::memcpy(allocation.host + offset + i, &word, std::min<std::size_t>(4, bytes - i));
  if (bytes == 0) return;
  keep_flags(allocation);
  clear_written(allocation.written, offset, bytes);
}

void GlobalMemory::copy_flags(const Allocation& from, std::size_t from_offset, Allocation& to, std::size_t to_offset,
                              std::size_t bytes) {
  if (!from.written) return mark_written(to, to_offset, bytes);
  keep_flags(to);
  for (std::size_t i = 0; i < bytes; ++i) {
    if (all_written(from.written, from_offset + i, 1)) set_written(to.written, to_offset + i, 1);
    else clear_written(to.written, to_offset + i, 1);
  }
}

}  // namespace cudal1::sim
