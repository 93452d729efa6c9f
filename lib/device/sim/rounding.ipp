// SPDX-License-Identifier: Apache-2.0
// Helpers of the floating-point families: flushing, canonical NaN, directed rounding.
#pragma once

#include "sim/elementwise.ipp"

#include <cfenv>
#include <limits>

namespace cudal1::sim {
namespace {

inline constexpr u32 nan32 = 0x7fffffffu;  // what the hardware returns for every 32-bit NaN

inline float flush(float v) {
  const u32 bits = std::bit_cast<u32>(v);
  return std::bit_cast<float>((bits & 0x7f800000u) ? bits : bits & 0x80000000u);
}
inline float canonical(float v) { return std::bit_cast<float>(v == v ? std::bit_cast<u32>(v) : nan32); }
inline double canonical(double v) { return v; }
inline float saturate(float v) { return v > 0.0f ? (v < 1.0f ? v : 1.0f) : 0.0f; }  // NaN gives +0
inline double saturate(double v) { return v > 0.0 ? (v < 1.0 ? v : 1.0) : 0.0; }

// Sets the host's rounding for as long as it lives.
class Rounding {
 public:
  explicit Rounding(int mode) {
#if defined(__x86_64__)
    saved_ = _mm_getcsr();
    const unsigned bits = mode == FE_TOWARDZERO ? 0x6000u : mode == FE_DOWNWARD ? 0x2000u : mode == FE_UPWARD ? 0x4000u : 0u;
    _mm_setcsr((saved_ & ~0x6000u) | bits);
#else
    saved_ = static_cast<unsigned>(std::fegetround());
    std::fesetround(mode);
#endif
    barrier();
  }
  ~Rounding() {
    barrier();
#if defined(__x86_64__)
    _mm_setcsr(saved_);
#else
    std::fesetround(static_cast<int>(saved_));
#endif
  }
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;

 private:
  // Keeps loads, stores and so the arithmetic between them from leaving the region.
  static void barrier() { __asm__ volatile("" ::: "memory"); }
  unsigned saved_;
};

template <class F, bool partial, int mode>
[[gnu::noinline]] void rounded(Warp& w, const Instruction& i) {
  const Rounding scope(mode);
  Signature<F>::template run<partial>(w, i);
}

// Adds a row for each rounding: ".rn" under the plain name too.
template <class F>
void add_rounded(const Adder& add, const std::string& stem, const std::string& tail, F f) {
  add(stem + tail, f);
  add(stem + ".rn" + tail, f);
  add.table[stem + ".rz" + tail] = {Signature<F>::shape(), &rounded<F, false, FE_TOWARDZERO>, &rounded<F, true, FE_TOWARDZERO>};
  add.table[stem + ".rm" + tail] = {Signature<F>::shape(), &rounded<F, false, FE_DOWNWARD>, &rounded<F, true, FE_DOWNWARD>};
  add.table[stem + ".rp" + tail] = {Signature<F>::shape(), &rounded<F, false, FE_UPWARD>, &rounded<F, true, FE_UPWARD>};
}

// PTX's minimum and maximum: a NaN loses against a number, and −0 is less than +0.
template <class T, class U, bool least, bool propagate>
inline T extreme(T a, T b) {
  const U x = std::bit_cast<U>(a), y = std::bit_cast<U>(b);
  const U zeros = least ? x | y : x & y;
  U r = (least ? a < b : a > b) ? x : y;
  r = a == b ? zeros : r;
  r = b != b ? x : r;
  r = a != a ? (propagate ? x : y) : r;
  if constexpr (propagate) r = b != b ? y : r;
  return canonical(std::bit_cast<T>(r));
}

// Saturates as PTX says. A NaN gives 0, but 1 << (width − 1) where either side has 64 bits.
template <class D, class A>
inline D to_integer(A v) {
  constexpr bool wide = sizeof(A) == 8 || sizeof(D) == 8;
  constexpr D for_nan = wide ? static_cast<D>(std::make_unsigned_t<D>{1} << (sizeof(D) * 8 - 1)) : D{0};
  // 2^bits is exact in both formats, the largest integer often is not.
  const A limit = static_cast<A>(std::ldexp(1.0, std::numeric_limits<D>::digits));
  const A least = static_cast<A>(std::numeric_limits<D>::min());
  const A inside = v >= limit || !(v >= least) ? A{0} : v;
  D r = static_cast<D>(inside);
  r = v >= limit ? std::numeric_limits<D>::max() : r;
  r = v < least ? std::numeric_limits<D>::min() : r;
  return v == v ? r : for_nan;
}

}  // namespace
}  // namespace cudal1::sim
