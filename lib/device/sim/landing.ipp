// SPDX-License-Identifier: Apache-2.0
// Where the addresses of a warp's access land, and in which runs. Included once for AVX2 and once for the baseline; hence
// everything here has internal linkage.
#pragma once

#include "sim/access.hpp"
#include "sim/elementwise.ipp"

namespace cudal1::sim {
namespace {

// Where an access lands on the host, and which of its words were written (null: all).
struct Landing {
  std::uintptr_t host;  // of device address 0; wraps around
  WordFlags* flags;     // of the word at device address 0, scaled by 4
  u64 flag_base;        // device address that flags start at
  Allocation* allocation;
  std::byte* at(u64 address) const { return reinterpret_cast<std::byte*>(host + address); }
};

struct GlobalTarget {
  static constexpr Space space = Space::generic;
  static bool find(Warp& w, Site& site, u64 low, u64 high, Landing& landing) {
    Allocation* a = site.last;
    if (!a || !a->covers(low, high)) {
      a = w.worker->launch->memory->find(low, high);
      if (!a) return false;
      site.last = a;
    }
    landing = {reinterpret_cast<std::uintptr_t>(a->host) - a->base, a->written, a->base, a};
    return true;
  }
};

struct SharedTarget {
  static constexpr Space space = Space::shared;
  static bool find(Warp& w, Site&, u64 low, u64 high, Landing& landing) {
    Block& b = *w.block;
    if (high > b.shared_bytes || low > high) return false;
    landing = {reinterpret_cast<std::uintptr_t>(b.shared), b.shared_written.data(), 0, nullptr};
    return true;
  }
};

inline bool flags_full(const WordFlags* flags, u64 words) {
  u64 k = 0;
  u64 all = 0x0f0f0f0f0f0f0f0full;
  for (; k + 8 <= words; k += 8) {
    u64 v;
    std::memcpy(&v, flags + k, 8);
    all &= v ^ (v & 0x8080808080808080ull ? ~u64{0} : 0);  // in flight
  }
  bool rest = true;
  for (; k < words; ++k) rest &= (flags[k] & (word_written | word_in_flight)) == word_written;
  return rest && (all & 0x0f0f0f0f0f0f0f0full) == 0x0f0f0f0f0f0f0f0full;
}

inline bool run_written(const Landing& at, u64 address, u64 bytes) {
  if (!at.flags) return true;
  const u64 offset = address - at.flag_base;
  if ((offset | bytes) % 4 == 0) return flags_full(at.flags + offset / 4, bytes / 4);
  for (u64 word = offset / 4; word <= (offset + bytes - 1) / 4; ++word)
    if (at.flags[word] & word_in_flight) return false;
  return all_written(at.flags, offset, bytes);
}

inline void mark_run(const Landing& at, u64 address, u64 bytes) {
  note_store(at.allocation);
  if (!at.flags) return;
  const u64 offset = address - at.flag_base;
  if ((offset | bytes) % 4 == 0) std::memset(at.flags + offset / 4, word_written, bytes / 4);
  else set_written(at.flags, offset, bytes);
}

// The addresses of a warp's access as two half-warp runs.
struct Runs {
  u64 base0, base1, stride0, stride1;
  bool regular;
};

inline Runs find_runs(const u64* a) {
  Runs r{a[0], a[16], a[1] - a[0], a[17] - a[16], false};
#if defined(__AVX2__)
  const __m256i steps0 = _mm256_set_epi64x(static_cast<s64>(3 * r.stride0), static_cast<s64>(2 * r.stride0), static_cast<s64>(r.stride0), 0);
  const __m256i steps1 = _mm256_set_epi64x(static_cast<s64>(3 * r.stride1), static_cast<s64>(2 * r.stride1), static_cast<s64>(r.stride1), 0);
  __m256i e0 = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<s64>(r.base0)), steps0);
  __m256i e1 = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<s64>(r.base1)), steps1);
  const __m256i four0 = _mm256_set1_epi64x(static_cast<s64>(4 * r.stride0)), four1 = _mm256_set1_epi64x(static_cast<s64>(4 * r.stride1));
  __m256i wrong = _mm256_setzero_si256();
  for (int q = 0; q < 4; ++q) {
    wrong = _mm256_or_si256(wrong, _mm256_xor_si256(e0, _mm256_load_si256(reinterpret_cast<const __m256i*>(a) + q)));
    wrong = _mm256_or_si256(wrong, _mm256_xor_si256(e1, _mm256_load_si256(reinterpret_cast<const __m256i*>(a) + 4 + q)));
    e0 = _mm256_add_epi64(e0, four0);
    e1 = _mm256_add_epi64(e1, four1);
  }
  r.regular = _mm256_testz_si256(wrong, wrong);
#else
  u64 wrong = 0;
  for (u64 l = 0; l < 16; ++l) wrong |= (a[l] ^ (r.base0 + l * r.stride0)) | (a[16 + l] ^ (r.base1 + l * r.stride1));
  r.regular = wrong == 0;
#endif
  return r;
}

template <int W>
struct ElementOf;
template <>
struct ElementOf<1> { using Type = u8; };
template <>
struct ElementOf<2> { using Type = u16; };
template <>
struct ElementOf<4> { using Type = u32; };
template <>
struct ElementOf<8> { using Type = u64; };

template <int N, class T>
struct DataRows {
  T* rows[N];
  DataRows(const Warp& w, const Instruction& i) {
    if constexpr (N == 1) rows[0] = row<T>(w, i.d);
    else
      for (int k = 0; k < N; ++k) rows[k] = row<T>(w, w.worker->launch->program->lists[i.list + static_cast<u32>(k)]);
  }
};
}  // namespace
}  // namespace cudal1::sim
