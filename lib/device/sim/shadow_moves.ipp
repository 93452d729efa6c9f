// SPDX-License-Identifier: Apache-2.0
// Instructions that move values, or parts of their bits, and their shadows with them. Included once for AVX2 and once for the
// baseline; hence everything here has internal linkage.
#pragma once

#include "sim/shadow_lanes.ipp"

namespace cudal1::sim {
namespace {

inline void copy_plane(const Warp& w, const Planes& into, const Planes& from) {
  const u32* lanes = w.lanes.data();
  if (w.mask == all_lanes) {
    std::memcpy(into.values, from.values, 32 * sizeof(double));
    std::memcpy(into.tags, from.tags, 32 * sizeof(u32));
    return;
  }
  CUDAL1_LANES {
    into.values[l] = lanes[l] ? from.values[l] : into.values[l];
    into.tags[l] = lanes[l] ? from.tags[l] : into.tags[l];
  }
}

// Planes that a value of so many bytes has.
inline unsigned planes_of(unsigned bytes) { return bytes / 2; }

void shadow_move(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  run_real(w, i, s);
  const unsigned step = w.worker->launch->program->shadow->halves || s.width < 4 ? 1 : 2;
  for (unsigned k = 0; k < planes_of(s.width); k += step) copy_plane(w, planes(w, i.d).at(k), planes(w, i.a).at(k));
}

// `part`: where the condition is; 0 a predicate, 1 an integer's sign, 2 a float's.
void shadow_select(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  const unsigned step = w.worker->launch->program->shadow->halves || s.width < 4 ? 1 : 2;
  u32 first = s.part == 0 ? *row<const u32>(w, i.c) : 0;
  if (s.part == 1)
    for (int l = 0; l < 32; ++l) first |= static_cast<u32>(row<const s32>(w, i.c)[l] >= 0) << l;
  if (s.part == 2)
    for (int l = 0; l < 32; ++l) first |= static_cast<u32>(row<const float>(w, i.c)[l] >= 0) << l;
  run_real(w, i, s);
  alignas(64) u32 choose[32];
  CUDAL1_LANES choose[l] = 0u - (first >> l & 1);
  const u32* lanes = w.lanes.data();
  for (unsigned k = 0; k < planes_of(s.width); k += step) {
    const Planes d = planes(w, i.d).at(k), a = planes(w, i.a).at(k), b = planes(w, i.b).at(k);
    CUDAL1_LANES {
      const double value = choose[l] ? a.values[l] : b.values[l];
      const u32 tag = choose[l] ? a.tags[l] : b.tags[l];
      d.values[l] = lanes[l] ? value : d.values[l];
      d.tags[l] = lanes[l] ? tag : d.tags[l];
    }
  }
}

// A bf16 with 16 zeros behind it is the same number as a float.
inline void widen_bfloat(const Warp& w, u32 offset) {
  const Planes lower = planes(w, offset), upper = lower.at(1);
  const u32* bits = row<const u32>(w, offset);
  for (int l = 0; l < 32; ++l) {
    if (!(w.mask >> l & 1) || (bits[l] & 0xffffu) != 0 || upper.tags[l] != (half_tag | bits[l] >> 16)) continue;
    lower.values[l] = upper.values[l];
    lower.tags[l] = bits[l];
  }
}

void shadow_pack(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  run_real(w, i, s);
  const unsigned half = planes_of(s.width) / 2;
  for (unsigned k = 0; k < half; ++k) copy_plane(w, planes(w, i.d).at(k), planes(w, i.a).at(k));
  for (unsigned k = 0; k < half; ++k) copy_plane(w, planes(w, i.d).at(half + k), planes(w, i.b).at(k));
  if (s.width == 4) widen_bfloat(w, i.d);
}

// `width` is of the part, `part` its place.
void shadow_part(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  run_real(w, i, s);
  const unsigned count = planes_of(s.width);
  for (unsigned k = 0; k < count; ++k) copy_plane(w, planes(w, i.d).at(k), planes(w, i.a).at(s.part * count + k));
}

// A sign changed or cleared by logic on bits; `part`: 0 changed, 1 cleared. `width`: 4 of a float, 2 of a half.
void shadow_sign(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  const ShadowMode mode = mode_of(w);
  Lanes shadow;
  const Planes a = planes(w, i.a);
  alignas(64) u32 known[32];
  for (int l = 0; l < 32; ++l) {
    const u32 tag = s.width == 4 ? row<const u32>(w, i.a)[l] : half_tag | row<const u16>(w, i.a)[l];
    known[l] = a.tags[l] == tag;
    shadow.of[l] = mode == ShadowMode::terms ? a.values[l] : s.part == 0 ? -a.values[l] : std::fabs(a.values[l]);
  }
  run_real(w, i, s);
  const Planes d = planes(w, i.d);
  for (int l = 0; l < 32; ++l) {
    if (!w.lanes[static_cast<std::size_t>(l)] || !known[l]) continue;
    d.values[l] = shadow.of[l];
    d.tags[l] = s.width == 4 ? row<const u32>(w, i.d)[l] : half_tag | row<const u16>(w, i.d)[l];
  }
}

// A word shifted up by 16 bits: its lower half becomes the upper one, as a bf16 that is made a float.
void shadow_bits_up(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  run_real(w, i, s);
  copy_plane(w, planes(w, i.d).at(1), planes(w, i.a));
  widen_bfloat(w, i.d);
}

inline u32 data_row_of(const Warp& w, const Instruction& i, unsigned count, unsigned k) {
  return count == 1 ? i.d : w.worker->launch->program->lists[i.list + k];
}

template <bool store>
inline void move_cells(Warp& w, const Instruction& i, const Shadowed& s, const u64* addresses) {
  const unsigned units = s.width / 2u, step = w.worker->launch->program->shadow->halves || units < 2 ? 1 : 2;
  Allocation* last = w.worker->sites[i.site].last;
  const unsigned bytes = s.width * s.count;
  // Nearly always all lanes are in one place.
  const s64 first = static_cast<s64>(addresses[std::countr_zero(w.mask)]);
  const u32* lanes = w.lanes.data();
  alignas(64) s64 used[32];
  s64 differ = 0;
  CUDAL1_LANES {
    used[l] = lanes[l] ? static_cast<s64>(addresses[l]) : first;
    differ |= used[l] ^ first;
  }
  s64 lowest = first, highest = first;
  if (differ != 0) {
    for (int l = 0; l < 32; ++l) lowest = used[l] < lowest ? used[l] : lowest;
    for (int l = 0; l < 32; ++l) highest = used[l] > highest ? used[l] : highest;
  }
  const u64 low = static_cast<u64>(lowest), high = static_cast<u64>(highest);
  CellPlace all;
  if (s.space != Space::local) {
    Allocation* one = last;
    all = shadow_cells(w, s.space, 0, low, static_cast<unsigned>(std::min<u64>(high - low + bytes, 0x7fffffff)), one);
    last = one ? one : last;
  }
  for (unsigned k = 0; k < s.count; ++k) {
    const Planes p = planes(w, data_row_of(w, i, s.count, k));
    if (all.values) {
      for (unsigned u = 0; u < units; u += step) {
        const Planes plane = p.at(u);
        const u64 place = k * units + u;
        const auto move = [&](int l) {
          const u64 cell = (addresses[l] - low) / 2 + place;
          if constexpr (store) all.values[cell] = plane.values[l], all.tags[cell] = plane.tags[l];
          else plane.values[l] = all.values[cell], plane.tags[l] = all.tags[cell];
        };
        if (!store && w.mask == all_lanes && low == high) {
          // One word for all of them.
          const double value = all.values[place];
          const u32 tag = all.tags[place];
          CUDAL1_LANES plane.values[l] = value, plane.tags[l] = tag;
        } else if (w.mask == all_lanes) {
          for (int l = 0; l < 32; ++l) move(l);
        } else {
          for (u32 rest = w.mask; rest; rest &= rest - 1) move(std::countr_zero(rest));
        }
      }
      continue;
    }
    for (u32 rest = w.mask; rest; rest &= rest - 1) {
      const int l = std::countr_zero(rest);
      const CellPlace place = shadow_cells(w, s.space, l, addresses[l] + k * s.width, s.width, last);
      if (!place.values) continue;
      for (unsigned u = 0; u < units; u += step) {
        const Planes plane = p.at(u);
        if constexpr (store) place.values[u] = plane.values[l], place.tags[u] = plane.tags[l];
        else plane.values[l] = place.values[u], plane.tags[l] = place.tags[u];
      }
    }
  }
}

void shadow_load(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  alignas(64) u64 addresses[32];
  const u64* a = row<const u64>(w, i.a);
  CUDAL1_LANES addresses[l] = a[l] + static_cast<u64>(i.immediate);
  run_real(w, i, s);
  if (w.mask) move_cells<false>(w, i, s, addresses);
}

void shadow_store(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  alignas(64) u64 addresses[32];
  const u64* a = row<const u64>(w, i.a);
  CUDAL1_LANES addresses[l] = a[l] + static_cast<u64>(i.immediate);
  run_real(w, i, s);
  if (w.mask) move_cells<true>(w, i, s, addresses);
}
}  // namespace
}  // namespace cudal1::sim
