// SPDX-License-Identifier: Apache-2.0
// Loads and stores of a whole warp. The addresses are sorted into patterns first: in each half of the warp a run with one
// stride, which covers contiguous, uniform and 16-wide tiles; anything else goes through a box. Whatever is not plainly right
// (bounds, alignment, unwritten words) goes to access_by_lane, which repeats the access with every check.
#pragma once

#include "sim/landing.ipp"

#include <algorithm>

namespace cudal1::sim {
namespace {

// Whether a run needs nothing from the race check: nobody else wrote there in this epoch, and for a load this warp or several
// are noted as readers already, for a store this warp alone as writer and nobody else as reader.
inline bool race_is_noted(const Warp& w, u64 address, u64 bytes, bool store) {
  const RaceTags& tags = w.block->races;
  const u32 granule = w.worker->launch->program->shared_granule;
  if (granule != 4 || w.block->cluster) return false;
  const u32 mine = (w.block->epoch & 0xffff) << 16 | (w.path & 0x3ff) << 6 | w.index, epoch = mine & 0xffff0000u, several = mine | 63u;
  const u32 *writer = tags.writer.data() + address / 4, *reader = tags.reader.data() + address / 4;
  const int count = static_cast<int>(bytes / 4);
  u32 open = 0;
  if (store) {
    for (int g = 0; g < count; ++g) open |= (writer[g] ^ mine) | ((reader[g] ^ mine) & (0u - static_cast<u32>((reader[g] & 0xffff0000u) == epoch)));
  } else {
    for (int g = 0; g < count; ++g) {
      const u32 foreign = 0u - static_cast<u32>((writer[g] & 0xffff0000u) == epoch && writer[g] != mine);
      const u32 fresh = 0u - static_cast<u32>(reader[g] != mine && reader[g] != several);
      open |= foreign | fresh;
    }
  }
  return open == 0;
}

// One half-warp run (or a whole-warp one with lanes 32): contiguous or uniform.
template <int W, int N, bool store, int lanes>
inline void move_run(std::byte* host, bool uniform, const DataRows<N, typename ElementOf<W>::Type>& data, int first) {
  using T = typename ElementOf<W>::Type;
  if constexpr (store) {
    if (uniform) {  // every lane writes the same place: the last one stays
      for (int k = 0; k < N; ++k) std::memcpy(host + k * W, data.rows[k] + first + lanes - 1, W);
    } else if constexpr (N == 1) {
      std::memcpy(host, data.rows[0] + first, lanes * W);
    } else {
      T block[lanes * N];
      for (int l = 0; l < lanes; ++l)
        for (int k = 0; k < N; ++k) block[l * N + k] = data.rows[k][first + l];
      std::memcpy(host, block, sizeof block);
    }
  } else {
    if (uniform) {
      T values[N];
      std::memcpy(values, host, sizeof values);
      for (int k = 0; k < N; ++k)
        for (int l = 0; l < lanes; ++l) data.rows[k][first + l] = values[k];
    } else if constexpr (N == 1) {
      std::memcpy(data.rows[0] + first, host, lanes * W);
    } else {
      T block[lanes * N];
      std::memcpy(block, host, sizeof block);
      for (int k = 0; k < N; ++k)
        for (int l = 0; l < lanes; ++l) data.rows[k][first + l] = block[l * N + k];
    }
  }
}

inline u64 sectors_between(u64 low, u64 high) { return ((high - 1) >> 5) - (low >> 5) + 1; }

// Returns false when nothing was done because something needs a closer look.
template <class Target, int W, int N, bool store>
inline bool transfer_runs(Warp& w, const Instruction& i, Site& site, Runs r) {
  constexpr u64 size = W * N;
  const u64 offset = static_cast<u64>(i.immediate);
  const bool uniform0 = r.stride0 == 0, uniform1 = r.stride1 == 0;
  if ((!uniform0 && r.stride0 != size) || (!uniform1 && r.stride1 != size)) return false;
  const u64 b0 = r.base0 + offset, b1 = r.base1 + offset;
  if ((b0 | b1) & (size - 1)) return false;
  const u64 n0 = uniform0 ? size : 16 * size, n1 = uniform1 ? size : 16 * size;
  const u64 low = std::min(b0, b1), high = std::max(b0 + n0, b1 + n1);
  Landing at;
  if (!Target::find(w, site, low, high, at)) return false;
  const bool whole = uniform0 == uniform1 && b1 == (uniform0 ? b0 : b0 + n0);
  if constexpr (!store) {
    if (at.flags && w.worker->launch->report_unwritten) {
      if (whole) {
        if (!run_written(at, b0, high - low)) return false;
      } else if (!run_written(at, b0, n0) || !run_written(at, b1, n1)) {
        return false;
      }
    }
  }
  const DataRows<N, typename ElementOf<W>::Type> data(w, i);
  ++site.requests;
  site.lane_accesses += 32;
  if constexpr (Target::space == Space::shared) {
    constexpr u64 parts = size <= 4 ? 1 : size / 4;
    site.ideal += parts;
    if (whole) {
      site.wavefronts += parts;
    } else if (size <= 4) {
      // Two runs of at most 16 words: they collide when they share a bank but not a word.
      u64 map = 0;
      const u64 w0 = b0 / 4, w1 = b1 / 4, least = std::min(w0, w1);
      if (w0 - least < 48 && w1 - least < 48) {
        map |= ((u64{1} << (n0 / 4 ? n0 / 4 : 1)) - 1) << (w0 - least);
        map |= ((u64{1} << (n1 / 4 ? n1 / 4 : 1)) - 1) << (w1 - least);
        site.wavefronts += 1 + ((map & map >> 32 & 0xffffffffu) != 0);
      } else {
        const u64 d = (w1 - w0) & 31, m0 = (n0 + 3) / 4, m1 = (n1 + 3) / 4;
        site.wavefronts += 1 + (d < m0 || 32 - d < m1);
      }
    } else {
      site.wavefronts += parts;  // each part lies within one half of the warp
    }
  } else {
    if (whole) {
      site.sectors += sectors_between(low, high);
    } else {
      const u64 s0 = b0 >> 5, t0 = (b0 + n0 - 1) >> 5, s1 = b1 >> 5, t1 = (b1 + n1 - 1) >> 5;
      const u64 common_low = std::max(s0, s1), common_high = std::min(t0, t1) + 1;
      site.sectors += (t0 - s0 + 1) + (t1 - s1 + 1) - (common_high > common_low ? common_high - common_low : 0);
    }
  }
  if (whole) {
    move_run<W, N, store, 32>(at.at(b0), uniform0, data, 0);
    if constexpr (store) uniform0 ? mark_run(at, b0, size) : mark_run(at, b0, 32 * size);  // constants for the compiler
  } else {
    move_run<W, N, store, 16>(at.at(b0), uniform0, data, 0);
    move_run<W, N, store, 16>(at.at(b1), uniform1, data, 16);
    if constexpr (store) mark_run(at, b0, n0), mark_run(at, b1, n1);
  }
  if constexpr (Target::space == Space::shared) {
    if (w.block->race_check) {
      const bool noted = whole ? race_is_noted(w, b0, high - low, store) : race_is_noted(w, b0, n0, store) && race_is_noted(w, b1, n1, store);
      if (!noted) shared_race_runs(w, i, b0, b1, r.stride0, r.stride1, size, store);
    }
  } else if (__builtin_expect(w.worker->launch->global_races && at.allocation->watched, 0)) {
    u64 addresses[32];
    for (u64 l = 0; l < 16; ++l) addresses[l] = b0 + l * r.stride0, addresses[16 + l] = b1 + l * r.stride1;
    global_race(w, i, *at.allocation, addresses, all_lanes, size, store);
  }
  return true;
}

template <class Target, int W, int N, bool store>
inline bool transfer_box(Warp& w, const Instruction& i, Site& site, const u64* a) {
  constexpr u64 size = W * N;
  const u32 mask = w.mask;
  if (!mask) return true;
  const u64 offset = static_cast<u64>(i.immediate), first = a[std::countr_zero(mask)];
  alignas(64) u64 t[32];
  u64 low = ~u64{0}, high = 0, bits = 0;
  if (mask == all_lanes) {
    CUDAL1_LANES t[l] = a[l] + offset;
  } else {
    const u32* lanes = w.lanes.data();
    CUDAL1_LANES t[l] = (lanes[l] ? a[l] : first) + offset;
  }
  CUDAL1_LANES {
    low = std::min(low, t[l]);
    high = std::max(high, t[l]);
    bits |= t[l];
  }
  if (bits & (size - 1)) return false;
  Landing at;
  if (!Target::find(w, site, low, high + size, at)) return false;
  if constexpr (!store) {
    if (at.flags && w.worker->launch->report_unwritten) {
      if constexpr (size % 4 == 0) {
        WordFlags all = 0xff, any = 0;
        const WordFlags* flags = at.flags;
        for (int l = 0; l < 32; ++l)
          for (u64 k = 0; k < size / 4; ++k) {
            const WordFlags f = flags[(t[l] - at.flag_base) / 4 + k];
            all &= f;
            any |= f;
          }
        if ((all & word_written) != word_written || (any & word_in_flight)) return false;
      } else {
        for (int l = 0; l < 32; ++l)
          if (!run_written(at, t[l], size)) return false;
      }
    }
  }
  ++site.requests;
  site.lane_accesses += static_cast<u64>(std::popcount(mask));
  if constexpr (Target::space == Space::shared) {
    site.ideal += size <= 4 ? 1 : size / 4;
    if (size <= 4 && high - low < 256) {
      u64 map = 0;
      const u64 least = low >> 2;
      for (int l = 0; l < 32; ++l) map |= u64{1} << ((t[l] >> 2) - least);
      site.wavefronts += 1 + ((map & map >> 32 & 0xffffffffu) != 0);
    } else {
      site.wavefronts += count_wavefronts(t, mask, size);
    }
  } else {
    if (((high + size - 1) >> 5) - (low >> 5) < 64) {
      u64 map = 0;
      const u64 least = low >> 5;
      for (int l = 0; l < 32; ++l) {
        map |= u64{1} << ((t[l] >> 5) - least);
        if constexpr (size > 32) map |= u64{1} << (((t[l] + size - 1) >> 5) - least);
      }
      site.sectors += static_cast<u64>(std::popcount(map));
    } else {
      site.sectors += count_sectors(t, mask, size);
    }
  }
  using T = typename ElementOf<W>::Type;
  const DataRows<N, T> data(w, i);
  if constexpr (store) {
    for (u32 rest = mask; rest; rest &= rest - 1) {
      const int l = std::countr_zero(rest);
      for (int k = 0; k < N; ++k) std::memcpy(at.at(t[l]) + k * W, data.rows[k] + l, W);
    }
    note_store(at.allocation);
    if (at.flags)
      for (u32 rest = mask; rest; rest &= rest - 1) {
        const u64 word = t[std::countr_zero(rest)] - at.flag_base;
        if constexpr (size % 4 == 0) {
          for (u64 k = 0; k < size / 4; ++k) at.flags[word / 4 + k] = word_written;
        } else {
          set_written(at.flags, word, size);
        }
      }
  } else if (mask == all_lanes) {
    for (int k = 0; k < N; ++k)
      for (int l = 0; l < 32; ++l) std::memcpy(data.rows[k] + l, at.at(t[l]) + k * W, W);
  } else {
    for (u32 rest = mask; rest; rest &= rest - 1) {
      const int l = std::countr_zero(rest);
      for (int k = 0; k < N; ++k) std::memcpy(data.rows[k] + l, at.at(t[l]) + k * W, W);
    }
  }
  if constexpr (Target::space == Space::shared) {
    if (__builtin_expect(w.block->race_check, 0)) shared_race(w, i, t, mask, size, store);
  } else if (__builtin_expect(w.worker->launch->global_races && at.allocation->watched, 0)) {
    global_race(w, i, *at.allocation, t, mask, size, store);
  }
  return true;
}

template <class Target, int W, int N, bool store>
void transfer_full(Warp& w, const Instruction& i) {
  Site& site = w.worker->sites[i.site];
  const u64* a = row<const u64>(w, i.a);
  if (Target::space != Space::shared && __builtin_expect(w.block->recording != nullptr, 0)) record(w, i, a, W * N);
  const Runs runs = find_runs(a);
  if (runs.regular && transfer_runs<Target, W, N, store>(w, i, site, runs)) return;
  if (!transfer_box<Target, W, N, store>(w, i, site, a)) access_by_lane(w, i, Target::space, W, N, store);
}

template <class Target, int W, int N, bool store>
void transfer_partial(Warp& w, const Instruction& i) {
  Site& site = w.worker->sites[i.site];
  if (Target::space != Space::shared && __builtin_expect(w.block->recording != nullptr, 0)) record(w, i, row<const u64>(w, i.a), W * N);
  if (!transfer_box<Target, W, N, store>(w, i, site, row<const u64>(w, i.a))) access_by_lane(w, i, Target::space, W, N, store);
}

template <int W, int N, bool store>
void transfer_local(Warp& w, const Instruction& i) {
  if (!w.mask) return;
  if (__builtin_expect(w.block->recording != nullptr, 0)) record_local(w, i, row<const u64>(w, i.a), W * N);
  access_by_lane(w, i, Space::local, W, N, store);
}

template <int W, int N, bool store>
void transfer_cluster(Warp& w, const Instruction& i) {
  if (w.mask) access_by_lane(w, i, Space::cluster, W, N, store);
}

template <int W, int N>
void transfer_size(Operations& table) {
  const std::string tail = "." + std::to_string(W) + "." + std::to_string(N);
  table["_ld.global" + tail] = {"", &transfer_full<GlobalTarget, W, N, false>, &transfer_partial<GlobalTarget, W, N, false>};
  table["_st.global" + tail] = {"", &transfer_full<GlobalTarget, W, N, true>, &transfer_partial<GlobalTarget, W, N, true>};
  table["_ld.shared" + tail] = {"", &transfer_full<SharedTarget, W, N, false>, &transfer_partial<SharedTarget, W, N, false>};
  table["_st.shared" + tail] = {"", &transfer_full<SharedTarget, W, N, true>, &transfer_partial<SharedTarget, W, N, true>};
  table["_ld.cluster" + tail] = {"", &transfer_cluster<W, N, false>, &transfer_cluster<W, N, false>};
  table["_st.cluster" + tail] = {"", &transfer_cluster<W, N, true>, &transfer_cluster<W, N, true>};
  table["_ld.local" + tail] = {"", &transfer_local<W, N, false>, &transfer_local<W, N, false>};
  table["_st.local" + tail] = {"", &transfer_local<W, N, true>, &transfer_local<W, N, true>};
}

void transfer_rows(Operations& table) {
  transfer_size<1, 1>(table), transfer_size<1, 2>(table), transfer_size<1, 4>(table);
  transfer_size<2, 1>(table), transfer_size<2, 2>(table), transfer_size<2, 4>(table), transfer_size<2, 8>(table);
  transfer_size<4, 1>(table), transfer_size<4, 2>(table), transfer_size<4, 4>(table), transfer_size<4, 8>(table);
  transfer_size<8, 1>(table), transfer_size<8, 2>(table), transfer_size<8, 4>(table);
}

}  // namespace
}  // namespace cudal1::sim
