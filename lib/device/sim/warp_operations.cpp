// SPDX-License-Identifier: Apache-2.0
// Operations across the lanes of a warp: shuffles, votes, matches, reductions.
#include "sim/families.hpp"

#include "sim/machine.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace cudal1::sim {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;

int first_lane(u32 mask) { return std::countr_zero(mask); }

// The lanes that the instruction's member mask names must be those that run it; lanes that have ended do not count.
void check_members(Warp& w, const Instruction& i, const u32* members) {
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const u32 named = members[lane];
    if (!(named >> lane & 1)) {
      report(w, i, outcome::Finding::Kind::bad_warp_mask, lane, 0, fmt::format("lane {} runs a warp operation whose mask {:#010x} does not name it", lane, named));
      return;
    }
    if (const u32 absent = named & w.live & ~w.mask) {
      report(w, i, outcome::Finding::Kind::bad_warp_mask, lane, 0,
             fmt::format("the mask {:#010x} of a warp operation names lane {}, which is not here", named, first_lane(absent)));
      return;
    }
    if (named == members[first_lane(w.mask)] && (w.mask & ~named) == 0) return;
  }
}

enum class Shuffle { up, down, bfly, idx };

// What a shuffle gives from a lane that does not take part, which CUDA leaves open: NaN in every floating type.
constexpr u32 undefined_value = 0x7fff7fff;

template <Shuffle mode>
void shuffle(Warp& w, const Instruction& i) {
  if (!w.mask) return;
  const u32 *a = row<const u32>(w, i.a), *b = row<const u32>(w, i.b), *c = row<const u32>(w, i.c), *members = row<const u32>(w, i.extra);
  const int first = first_lane(w.mask);
  if (members[first] != all_lanes || w.mask != w.live) check_members(w, i, members);
  alignas(64) u32 values[32];
  u32 valid = 0;
  for (u32 lane = 0; lane < 32; ++lane) {
    const u32 step = b[lane] & 31, clamp = c[lane] & 31, segment = c[lane] >> 8 & 31;
    const u32 highest = (lane & segment) | (clamp & ~segment), lowest = lane & segment;
    s32 j = 0;
    bool inside = false;
    if (mode == Shuffle::up) j = static_cast<s32>(lane) - static_cast<s32>(step), inside = j >= static_cast<s32>(highest);
    if (mode == Shuffle::down) j = static_cast<s32>(lane + step), inside = j <= static_cast<s32>(highest);
    if (mode == Shuffle::bfly) j = static_cast<s32>(lane ^ step), inside = j <= static_cast<s32>(highest);
    if (mode == Shuffle::idx) j = static_cast<s32>(lowest | (step & ~segment)), inside = j <= static_cast<s32>(highest);
    const s32 from = inside ? j & 31 : static_cast<s32>(lane);
    values[lane] = w.mask >> from & 1 ? a[from] : undefined_value;
    valid |= static_cast<u32>(inside) << lane;
  }
  u32* d = row<u32>(w, i.d);
  for (int l = 0; l < 32; ++l) d[l] = w.lanes[static_cast<std::size_t>(l)] ? values[l] : d[l];
  if (i.list != nowhere) {
    u32* p = row<u32>(w, i.list);
    *p = (*p & ~w.mask) | (valid & w.mask);
  }
}

void fill(Warp& w, u32 offset, u32 value) {
  u32* d = row<u32>(w, offset);
  for (int l = 0; l < 32; ++l)
    if (w.mask >> l & 1) d[l] = value;
}

// `immediate`: 1 when the source predicate is negated. `c` is the member mask, or nowhere in the forms without .sync.
u32 votes(Warp& w, const Instruction& i) {
  if (i.b != nowhere) check_members(w, i, row<const u32>(w, i.b));
  const u32 p = *row<const u32>(w, i.a);
  return (i.immediate ? ~p : p) & w.mask;
}

void vote_ballot(Warp& w, const Instruction& i) {
  if (w.mask) fill(w, i.d, votes(w, i));
}
template <int kind>  // 0 all, 1 any, 2 uni
void vote(Warp& w, const Instruction& i) {
  if (!w.mask) return;
  const u32 v = votes(w, i);
  const bool result = kind == 0 ? v == w.mask : kind == 1 ? v != 0 : v == w.mask || v == 0;
  u32* d = row<u32>(w, i.d);
  *d = (*d & ~w.mask) | (result ? w.mask : 0);
}

template <class T>
void match_any(Warp& w, const Instruction& i) {
  if (!w.mask) return;
  check_members(w, i, row<const u32>(w, i.b));
  const T* a = row<const T>(w, i.a);
  u32* d = row<u32>(w, i.d);
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    u32 equal = 0;
    for (u32 others = w.mask; others; others &= others - 1) equal |= static_cast<u32>(a[first_lane(others)] == a[l]) << first_lane(others);
    d[l] = equal;
  }
}
template <class T>
void match_all(Warp& w, const Instruction& i) {
  if (!w.mask) return;
  check_members(w, i, row<const u32>(w, i.b));
  const T* a = row<const T>(w, i.a);
  bool same = true;
  for (u32 rest = w.mask; rest; rest &= rest - 1) same &= a[first_lane(rest)] == a[first_lane(w.mask)];
  fill(w, i.d, same ? w.mask : 0);
  if (i.list != nowhere) {
    u32* p = row<u32>(w, i.list);
    *p = (*p & ~w.mask) | (same ? w.mask : 0);
  }
}

template <class T, class F>
void reduce(Warp& w, const Instruction& i) {
  if (!w.mask) return;
  check_members(w, i, row<const u32>(w, i.b));
  const T* a = row<const T>(w, i.a);
  T value = a[first_lane(w.mask)];
  for (u32 rest = w.mask & (w.mask - 1); rest; rest &= rest - 1) value = F{}(value, a[first_lane(rest)]);
  fill(w, i.d, static_cast<u32>(value));
}
template <class T, class F>
void reduce_row(Operations& table, const std::string& name, F) {
  table["redux.sync." + name] = {"444", &reduce<T, F>, &reduce<T, F>};
}

void active_mask(Warp& w, const Instruction& i) { fill(w, i.d, w.mask); }

void warp_barrier(Warp& w, const Instruction& i) {
  if (!w.mask) return;
  check_members(w, i, row<const u32>(w, i.a));
}

void elect(Warp& w, const Instruction& i) {
  if (!w.mask) return;
  check_members(w, i, row<const u32>(w, i.a));
  const int leader = first_lane(w.mask);
  if (i.d != nowhere) fill(w, i.d, static_cast<u32>(leader));
  if (i.list != nowhere) {
    u32* p = row<u32>(w, i.list);
    *p = (*p & ~w.mask) | 1u << leader;
  }
}

void both(Operations& table, const std::string& name, const std::string& shape, Handler handler) { table[name] = {shape, handler, handler}; }

}  // namespace

void add_warp_operations(Operations& table) {
  both(table, "shfl.sync.up.b32", "4?4444", &shuffle<Shuffle::up>);
  both(table, "shfl.sync.down.b32", "4?4444", &shuffle<Shuffle::down>);
  both(table, "shfl.sync.bfly.b32", "4?4444", &shuffle<Shuffle::bfly>);
  both(table, "shfl.sync.idx.b32", "4?4444", &shuffle<Shuffle::idx>);
  both(table, "vote.sync.ballot.b32", "4n4", &vote_ballot);
  both(table, "vote.sync.all.pred", "pn4", &vote<0>);
  both(table, "vote.sync.any.pred", "pn4", &vote<1>);
  both(table, "vote.sync.uni.pred", "pn4", &vote<2>);
  both(table, "match.any.sync.b32", "444", &match_any<u32>);
  both(table, "match.any.sync.b64", "484", &match_any<u64>);
  both(table, "match.all.sync.b32", "4?44", &match_all<u32>);
  both(table, "match.all.sync.b64", "4?84", &match_all<u64>);
  reduce_row<u32>(table, "add.u32", [](u32 a, u32 b) { return a + b; });
  reduce_row<u32>(table, "add.s32", [](u32 a, u32 b) { return a + b; });
  reduce_row<u32>(table, "min.u32", [](u32 a, u32 b) { return std::min(a, b); });
  reduce_row<u32>(table, "max.u32", [](u32 a, u32 b) { return std::max(a, b); });
  reduce_row<s32>(table, "min.s32", [](s32 a, s32 b) { return std::min(a, b); });
  reduce_row<s32>(table, "max.s32", [](s32 a, s32 b) { return std::max(a, b); });
  reduce_row<u32>(table, "and.b32", [](u32 a, u32 b) { return a & b; });
  reduce_row<u32>(table, "or.b32", [](u32 a, u32 b) { return a | b; });
  reduce_row<u32>(table, "xor.b32", [](u32 a, u32 b) { return a ^ b; });
  both(table, "activemask.b32", "4", &active_mask);
  both(table, "bar.warp.sync", "_4", &warp_barrier);
  both(table, "elect.sync", "4?4", &elect);
}

}  // namespace cudal1::sim
