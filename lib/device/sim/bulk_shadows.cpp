// SPDX-License-Identifier: Apache-2.0
#include "sim/bulk_shadows.hpp"

#include "sim/shadow.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace cudal1::sim {

namespace {

using u32 = std::uint32_t;

CellPlace global_cells(Warp& warp, std::uint64_t address, u32 bytes) {
  Allocation* none = nullptr;
  return shadow_cells(warp, Space::global, 0, address, bytes, none);
}

u32 word_at(const std::byte* bytes) {
  u32 word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

}  // namespace

BulkShadows::BulkShadows(Warp& warp, u32 bytes) : warp_(warp) {
  if (!warp.worker->launch->program->shadow) return;
  values_.assign(bytes / 2, 0);
  tags_.assign(bytes / 2, 0);
}

void BulkShadows::take_global(std::uint64_t address, u32 at, u32 bytes) {
  if (!on()) return;
  const CellPlace from = global_cells(warp_, address, bytes);
  if (!from.values) return;
  std::copy_n(from.values, bytes / 2, values_.data() + at / 2);
  std::copy_n(from.tags, bytes / 2, tags_.data() + at / 2);
}

void BulkShadows::take_shared(Block& block, std::uint64_t offset, u32 at, u32 bytes) {
  if (!on()) return;
  const CellPlace from = shared_cells(block, offset, bytes);
  if (!from.values) return;
  std::copy_n(from.values, bytes / 2, values_.data() + at / 2);
  std::copy_n(from.tags, bytes / 2, tags_.data() + at / 2);
}

void BulkShadows::give_global(std::uint64_t address, u32 at, u32 bytes) {
  if (!on()) return;
  const CellPlace into = global_cells(warp_, address, bytes);
  if (!into.values) return;
  std::copy_n(values_.data() + at / 2, bytes / 2, into.values);
  std::copy_n(tags_.data() + at / 2, bytes / 2, into.tags);
}

void BulkShadows::give_shared(Block& block, std::uint64_t offset, u32 at, u32 bytes) {
  if (!on()) return;
  const CellPlace into = shared_cells(block, offset, bytes);
  if (!into.values) return;
  std::copy_n(values_.data() + at / 2, bytes / 2, into.values);
  std::copy_n(tags_.data() + at / 2, bytes / 2, into.tags);
}

void BulkShadows::rename(u32 at, u32 before, u32 after) {
  if (on() && tags_[at / 2] == before) tags_[at / 2] = after;
}

void BulkShadows::add_global(std::uint64_t address, u32 at, const std::byte* before, const std::byte* given, const std::byte* after, u32 bytes) {
  if (!on()) return;
  const CellPlace into = global_cells(warp_, address, bytes);
  if (!into.values) return;
  const ShadowMode mode = warp_.worker->launch->shadow_mode;
  const auto number = [&](double value, u32 tag, u32 bits) { return tag == bits ? value : leaf(mode, static_cast<double>(std::bit_cast<float>(bits))); };
  for (u32 k = 0; k < bytes; k += 4) {
    const u32 sum = word_at(after + k);
    const double exact = number(into.values[k / 2], into.tags[k / 2], word_at(before + k)) + number(values_[(at + k) / 2], tags_[(at + k) / 2], word_at(given + k));
    const auto value = static_cast<double>(std::bit_cast<float>(sum));
    into.values[k / 2] = std::isfinite(exact) && std::isfinite(value) ? exact : value;
    into.tags[k / 2] = sum;
  }
}

}  // namespace cudal1::sim
