// SPDX-License-Identifier: Apache-2.0
// What instructions that look at lanes one by one do with shadows: shuffles, atomic operations, asynchronous copies, and the copies
// that a call makes. Tensor operations are in shadow_tensor.cpp.
#include "sim/cluster.hpp"
#include "sim/shadow.hpp"
#include "sim/shadow_number.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace cudal1::sim {

namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;

// From the lane that the value comes from (shuffle in warp_operations.cpp); from another one the bits would differ.
template <int mode>
void shuffle(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  const u32 *b = row<const u32>(w, i.b), *c = row<const u32>(w, i.c);
  const Planes from = planes(w, i.a);
  double values[2][32];
  u32 tags[2][32];
  for (u32 lane = 0; lane < 32; ++lane) {
    const u32 step = b[lane] & 31, clamp = c[lane] & 31, segment = c[lane] >> 8 & 31;
    const u32 highest = (lane & segment) | (clamp & ~segment), lowest = lane & segment;
    s32 j = 0;
    bool inside = false;
    if (mode == 0) j = static_cast<s32>(lane) - static_cast<s32>(step), inside = j >= static_cast<s32>(highest);
    if (mode == 1) j = static_cast<s32>(lane + step), inside = j <= static_cast<s32>(highest);
    if (mode == 2) j = static_cast<s32>(lane ^ step), inside = j <= static_cast<s32>(highest);
    if (mode == 3) j = static_cast<s32>(lowest | (step & ~segment)), inside = j <= static_cast<s32>(highest);
    const u32 source = inside ? static_cast<u32>(j) & 31 : lane;
    for (u32 k = 0; k < 2; ++k) values[k][lane] = from.at(k).values[source], tags[k][lane] = from.at(k).tags[source];
  }
  run_real(w, i, s);
  const Planes into = planes(w, i.d);
  for (u32 k = 0; k < 2; ++k)
    for (u32 rest = w.mask; rest; rest &= rest - 1) {
      const auto lane = static_cast<u32>(std::countr_zero(rest));
      into.at(k).values[lane] = values[k][lane], into.at(k).tags[lane] = tags[k][lane];
    }
}

// Where a lane's atomic operation finds its value and its cells.
struct Target {
  CellPlace cells;
  const std::byte* host = nullptr;
};
Target target_of(Warp& w, const Shadowed& s, int lane, u64 address, Allocation*& last) {
  Target target;
  target.cells = shadow_cells(w, s.space, lane, address, s.width, last);
  if (!target.cells.values) return target;
  const auto offset = static_cast<u32>(address);   // where it is shared: the window's place is a multiple of its size
  const bool windowed = s.space == Space::generic || s.space == Space::global;
  const bool cluster = s.space == Space::cluster || (windowed && address - shared_window < window_bytes);
  const bool local = s.space == Space::local || (windowed && address - local_window < window_bytes);
  if (s.space == Space::shared) target.host = w.block->shared + offset;
  else if (cluster) target.host = block_at(*w.block, offset)->shared + (offset & cluster_offset_mask);
  else if (local) target.cells = {};   // the hardware has no atomic operations there
  else target.host = last->host + (address - last->base);
  return target;
}

template <class T>
void add_atomically(Warp& w, const Instruction& i, const Shadowed& s) {
  const ShadowMode mode = mode_of(w);
  const u64* base = row<const u64>(w, i.a);
  const T* b = row<const T>(w, i.b);
  const Planes added = planes(w, i.b);
  u64 addresses[32];
  Target targets[32];
  double before[32] = {}, after[32] = {};
  Allocation* last = nullptr;
  const u32 seed = static_cast<u32>(w.worker->launch->shadow_seed) ^ static_cast<u32>(w.block->number) * 0x27d4eb2fu ^ i.statement << 7;
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    addresses[lane] = base[lane] + static_cast<u64>(i.immediate);
    targets[lane] = target_of(w, s, lane, addresses[lane], last);
    if (!targets[lane].cells.values) continue;
    T value{};
    std::memcpy(&value, targets[lane].host, sizeof value);
    before[lane] = number_at(mode, value, targets[lane].cells.values, targets[lane].cells.tags, 2).shadow;
    for (int other = lane - 1; other >= 0; --other)
      if ((w.mask >> other & 1) && targets[other].cells.values && addresses[other] == addresses[lane]) {
        before[lane] = after[other];
        break;
      }
    const double term = number_at(mode, b[lane], added.values + lane, added.tags + lane, 64).shadow;
    after[lane] = before[lane] + term;
    if (mode == ShadowMode::disturbed && std::fabs(after[lane]) != std::fabs(term)) {
      u32 h = (std::bit_cast<u32>(static_cast<float>(after[lane])) ^ seed) * 0x9e3779b1u + static_cast<u32>(lane) * 0x632be5abu;
      h = (h ^ h >> 15) * 0x85ebca6bu;
      h = (h ^ h >> 13) * 0xc2b2ae35u;
      after[lane] *= 1 + 0.71 * (sizeof(T) == 8 ? 0x1p-53 : 0x1p-24) * static_cast<double>(static_cast<s32>(h ^ h >> 16)) * 0x1p-31;
    }
  }
  run_real(w, i, s);
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (!targets[lane].cells.values) continue;
    T value{};
    std::memcpy(&value, targets[lane].host, sizeof value);
    set_number(value, after[lane], targets[lane].cells.values, targets[lane].cells.tags, 2);
    if (i.d == nowhere) continue;
    const Planes old = planes(w, i.d);
    set_number(row<const T>(w, i.d)[lane], before[lane], old.values + lane, old.tags + lane, 64);
  }
}

void atomic_add(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  if (s.type == Element::f64) add_atomically<double>(w, i, s);
  else add_atomically<float>(w, i, s);
}

// Operations that leave one of the values: whose bits are in memory afterwards gave it, and its shadow.
void atomic_choose(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  const unsigned units = s.width / 2u;
  const u64* base = row<const u64>(w, i.a);
  struct Held {
    double values[4];
    u32 tags[4];
  };
  u64 addresses[32];
  Target targets[32];
  Held before[32];
  Allocation* last = nullptr;
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    addresses[lane] = base[lane] + static_cast<u64>(i.immediate);
    targets[lane] = target_of(w, s, lane, addresses[lane], last);
    if (targets[lane].cells.values)
      for (unsigned u = 0; u < units; ++u) before[lane].values[u] = targets[lane].cells.values[u], before[lane].tags[u] = targets[lane].cells.tags[u];
  }
  // What is exchanged may lie in the register that takes the old value.
  const auto* given = w.rows + (i.c == nowhere ? i.b : i.c);
  const Planes from = planes(w, i.c == nowhere ? i.b : i.c);
  std::byte bits[32 * 8];
  std::memcpy(bits, given, 32 * s.width);
  Held offered[32];
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned u = 0; u < units; ++u) offered[lane].values[u] = from.at(u).values[lane], offered[lane].tags[u] = from.at(u).tags[lane];
  run_real(w, i, s);
  const auto matches = [&](const std::byte* held, const Held& one) {
    for (unsigned u = 0; u < units; u += 2) {
      u32 word = 0;
      std::memcpy(&word, held + 2 * u, 4);
      if (one.tags[u] != word) return false;
    }
    return true;
  };
  const auto find = [&](const std::byte* held, int lane) -> const Held* {
    if (matches(held, before[lane])) return &before[lane];
    for (u32 others = w.mask; others; others &= others - 1) {
      const int other = std::countr_zero(others);
      if (targets[other].cells.values && addresses[other] == addresses[lane] && std::memcmp(bits + static_cast<unsigned>(other) * s.width, held, s.width) == 0 && matches(held, offered[other]))
        return &offered[other];
    }
    return nullptr;
  };
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (!targets[lane].cells.values) continue;
    if (const Held* one = find(targets[lane].host, lane))
      for (unsigned u = 0; u < units; ++u) targets[lane].cells.values[u] = one->values[u], targets[lane].cells.tags[u] = one->tags[u];
    if (i.d == nowhere) continue;
    const Planes into = planes(w, i.d);
    if (const Held* one = find(w.rows + i.d + static_cast<unsigned>(lane) * s.width, lane))
      for (unsigned u = 0; u < units; ++u) into.at(u).values[lane] = one->values[u], into.at(u).tags[lane] = one->tags[u];
  }
}

void copy_cells(const CellPlace& into, const CellPlace& from, unsigned bytes) {
  if (!into.values || !from.values) return;
  std::memmove(into.values, from.values, bytes / 2 * sizeof(double));
  std::memmove(into.tags, from.tags, bytes / 2 * sizeof(u32));
}

// What is filled with zeros has other bits than the shadows that are copied beside it.
void copy_start(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  const auto* lists = w.worker->launch->program->lists.data() + i.list;
  const u64 *to = row<const u64>(w, i.d), *from = row<const u64>(w, i.a);
  Allocation* last = nullptr;
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const u64 target = to[lane] + static_cast<u64>(static_cast<std::int64_t>(static_cast<s32>(lists[1])));
    copy_cells(shadow_cells(w, Space::shared, lane, target, i.extra, last), shadow_cells(w, Space::global, lane, from[lane] + static_cast<u64>(i.immediate), i.extra, last), i.extra);
  }
  run_real(w, i, s);
}

void copy_local(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  run_real(w, i, s);
  Allocation* none = nullptr;
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    copy_cells(shadow_cells(w, Space::local, lane, i.extra, i.list, none), shadow_cells(w, Space::local, lane, static_cast<u64>(i.immediate), i.list, none), i.list);
  }
}

}  // namespace

ShadowLaneHandlers shadow_lane_handlers() {
  ShadowLaneHandlers handlers = shadow_tensor_handlers();
  handlers.shuffle[0] = &shuffle<0>, handlers.shuffle[1] = &shuffle<1>, handlers.shuffle[2] = &shuffle<2>, handlers.shuffle[3] = &shuffle<3>;
  handlers.atomic_add = &atomic_add, handlers.atomic_choose = &atomic_choose;
  handlers.copy_start = &copy_start, handlers.copy_local = &copy_local;
  return handlers;
}

}  // namespace cudal1::sim
