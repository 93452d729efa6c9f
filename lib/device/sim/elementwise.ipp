// SPDX-License-Identifier: Apache-2.0
// Element-wise handlers from lambdas: the lambda's parameter types are the operands' widths. Included by each family, which
// is compiled once for AVX2 and once for the baseline; hence everything here has internal linkage.
#pragma once

#include "sim/machine.hpp"
#include "sim/operation.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <string>
#include <tuple>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__clang__)
#define CUDAL1_LANES _Pragma("clang loop vectorize(assume_safety)") for (int l = 0; l < 32; ++l)
#else
#define CUDAL1_LANES _Pragma("GCC ivdep") for (int l = 0; l < 32; ++l)
#endif

namespace cudal1::sim {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
struct Quad {
  u64 low, high;
};

// The sign bit of each of 32 words as a mask.
[[maybe_unused]] inline u32 sign_mask(const s32* v) {
#if defined(__AVX2__)
  u32 mask = 0;
  for (int q = 0; q < 4; ++q)
    mask |= static_cast<u32>(_mm256_movemask_ps(_mm256_load_ps(reinterpret_cast<const float*>(v) + 8 * q))) << (8 * q);
  return mask;
#elif defined(__x86_64__)
  u32 mask = 0;
  for (int q = 0; q < 8; ++q)
    mask |= static_cast<u32>(_mm_movemask_ps(_mm_load_ps(reinterpret_cast<const float*>(v) + 4 * q))) << (4 * q);
  return mask;
#else
  u32 mask = 0;
  for (int l = 0; l < 32; ++l) mask |= static_cast<u32>(v[l] < 0) << l;
  return mask;
#endif
}

// A source operand by lane; a predicate is spread from its mask.
template <class T>
struct Source {
  const T* __restrict values;
  Source(const Warp& w, u32 offset) : values(row<const T>(w, offset)) {}
  T operator[](int l) const { return values[l]; }
};
template <>
struct Source<bool> {
  u32 mask;
  Source(const Warp& w, u32 offset) : mask(*row<const u32>(w, offset)) {}
  bool operator[](int l) const { return mask >> l & 1; }
};

template <class T>
constexpr char letter() {
  return std::is_same_v<T, bool> ? 'p' : sizeof(T) == 16 ? 'q' : static_cast<char>('0' + sizeof(T));
}

template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class F, class R, class... A>
struct Signature<R (F::*)(A...) const> {
  static std::string shape() { return std::string{letter<R>(), letter<A>()...}; }

  template <bool partial, std::size_t... N>
  static void apply(Warp& w, const Instruction& i, std::index_sequence<N...>) {
    [[maybe_unused]] const u32 offsets[] = {i.a, i.b, i.c};
    const std::tuple<Source<A>...> sources{Source<A>(w, offsets[N])...};
    if constexpr (std::is_same_v<R, bool>) {
      alignas(64) s32 v[32];
      CUDAL1_LANES v[l] = -static_cast<s32>(F{}(std::get<N>(sources)[l]...));
      u32* d = row<u32>(w, i.d);
      *d = (*d & ~w.mask) | (sign_mask(v) & w.mask);
    } else {
      R* d = row<R>(w, i.d);
      if constexpr (partial) {
        const u32* lanes = w.lanes.data();
        CUDAL1_LANES {
          const R v = F{}(std::get<N>(sources)[l]...);
          d[l] = lanes[l] ? v : d[l];
        }
      } else {
        CUDAL1_LANES d[l] = F{}(std::get<N>(sources)[l]...);
      }
    }
  }
  template <bool partial>
  static void run(Warp& w, const Instruction& i) {
    apply<partial>(w, i, std::index_sequence_for<A...>{});
  }
};

// Adds rows to the table: one name, or several names of the same thing.
struct Adder {
  Operations& table;

  template <class F>
  void operator()(const std::string& name, F) const {
    table[name] = {Signature<F>::shape(), &Signature<F>::template run<false>, &Signature<F>::template run<true>};
  }
  template <class F>
  void operator()(std::initializer_list<const char*> names, F f) const {
    for (const char* name : names) (*this)(std::string(name), f);
  }
  // A handler that minds the mask itself.
  void whole(const std::string& name, const std::string& shape, Handler handler) const { table[name] = {shape, handler, handler}; }
};

}  // namespace
}  // namespace cudal1::sim
