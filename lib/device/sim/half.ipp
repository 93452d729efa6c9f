// SPDX-License-Identifier: Apache-2.0
// f16 and bf16, single and packed: computed in float, whose 24 bits are enough for one rounding to decide, and in double with
// a sticky last bit for the fused multiply-add.
#pragma once

#include "sim/approximate.ipp"
#include "sim/comparison.ipp"
#include "sim/rounding.ipp"
#include "sim/small_float.hpp"

namespace cudal1::sim {
namespace {

template <class T>
inline T round_to(float v) {
  if constexpr (std::is_same_v<T, Half>) return to_half(v);
  else return to_bfloat(v);
}
template <class T>
inline bool is_small(T v) {  // zero or denormal
  return (v.bits & (std::is_same_v<T, Half> ? 0x7c00u : 0x7f80u)) == 0;
}
template <class T, bool ftz>
inline float value_of(T v) {
  if constexpr (ftz) return is_small(v) ? to_float(T{static_cast<u16>(v.bits & 0x8000u)}) : to_float(v);
  else return to_float(v);
}

// -0 becomes 0, NaN stays.
inline float rectified(float v) { return v <= 0.0f ? 0.0f : v; }

// 0 plain, 1 saturated to [0, 1], 2 clamped below at 0 (.relu)
template <class T, bool ftz, int clamp>
inline T result_of(float v) {
  if constexpr (clamp == 1) v = saturate(v);
  if constexpr (clamp == 2) v = rectified(v);
  T r = round_to<T>(v);
  if constexpr (ftz) r = is_small(r) ? T{static_cast<u16>(r.bits & 0x8000u)} : r;
  return r;
}

inline float fused(float a, float b, float c) {
  const double p = static_cast<double>(a) * b, s = p + c;
  if (!(std::fabs(s) < HUGE_VAL)) return static_cast<float>(s);
  const double t = s - p, e = (p - (s - t)) + (c - t);
  u64 bits = std::bit_cast<u64>(s);
  if (e != 0 && !(bits & 1)) bits += (e > 0) == (s > 0) ? u64{1} : ~u64{0};
  return sticky_float(std::bit_cast<double>(bits));
}

template <class T, class F>
inline u32 on_pair(u32 a, u32 b, u32 c, F f) {
  const T low = f(T{static_cast<u16>(a)}, T{static_cast<u16>(b)}, T{static_cast<u16>(c)});
  const T high = f(T{static_cast<u16>(a >> 16)}, T{static_cast<u16>(b >> 16)}, T{static_cast<u16>(c >> 16)});
  return low.bits | static_cast<u32>(high.bits) << 16;
}

// One, two or three operands; each with a packed twin.
template <class T, class F>
void add_unary(const Adder& add, const std::string& stem, const std::string& t, F) {
  add(stem + "." + t, [](T a) -> T { return F{}(a); });
  add(stem + "." + t + "x2", [](u32 a) -> u32 { return on_pair<T>(a, 0, 0, [](T x, T, T) { return F{}(x); }); });
}
template <class T, class F>
void add_binary(const Adder& add, const std::string& stem, const std::string& t, F) {
  add(stem + "." + t, [](T a, T b) -> T { return F{}(a, b); });
  add(stem + "." + t + "x2", [](u32 a, u32 b) -> u32 { return on_pair<T>(a, b, 0, [](T x, T y, T) { return F{}(x, y); }); });
}
template <class T, class F>
void add_ternary(const Adder& add, const std::string& stem, const std::string& t, F) {
  add(stem + "." + t, [](T a, T b, T c) -> T { return F{}(a, b, c); });
  add(stem + "." + t + "x2", [](u32 a, u32 b, u32 c) -> u32 { return on_pair<T>(a, b, c, [](T x, T y, T z) { return F{}(x, y, z); }); });
}

template <class T, bool ftz, int clamp>
void half_arithmetic(const Adder& add, const std::string& t) {
  const std::string m = std::string(ftz ? ".ftz" : "") + (clamp == 1 ? ".sat" : clamp == 2 ? ".relu" : "");
  for (const std::string& r : {std::string(), std::string(".rn")}) {
    if (clamp != 2) {
      add_binary<T>(add, "add" + r + m, t, [](T a, T b) { return result_of<T, ftz, clamp>(value_of<T, ftz>(a) + value_of<T, ftz>(b)); });
      add_binary<T>(add, "sub" + r + m, t, [](T a, T b) { return result_of<T, ftz, clamp>(value_of<T, ftz>(a) - value_of<T, ftz>(b)); });
      add_binary<T>(add, "mul" + r + m, t, [](T a, T b) { return result_of<T, ftz, clamp>(value_of<T, ftz>(a) * value_of<T, ftz>(b)); });
    }
    add_ternary<T>(add, "fma" + r + m, t, [](T a, T b, T c) { return result_of<T, ftz, clamp>(fused(value_of<T, ftz>(a), value_of<T, ftz>(b), value_of<T, ftz>(c))); });
  }
}

template <class T, bool ftz>
void half_functions(const Adder& add, const std::string& t) {
  const std::string m = ftz ? ".ftz" : "";
  add_unary<T>(add, "neg" + m, t, [](T a) { return ftz && is_small(a) ? T{static_cast<u16>(~a.bits & 0x8000u)} : T{static_cast<u16>(a.bits ^ 0x8000u)}; });
  add_unary<T>(add, "abs" + m, t, [](T a) { return ftz && is_small(a) ? T{0} : T{static_cast<u16>(a.bits & 0x7fffu)}; });
  add_binary<T>(add, "min" + m, t, [](T a, T b) { return result_of<T, ftz, 0>(extreme<float, u32, true, false>(value_of<T, ftz>(a), value_of<T, ftz>(b))); });
  add_binary<T>(add, "max" + m, t, [](T a, T b) { return result_of<T, ftz, 0>(extreme<float, u32, false, false>(value_of<T, ftz>(a), value_of<T, ftz>(b))); });
  add_binary<T>(add, "min" + m + ".NaN", t, [](T a, T b) { return result_of<T, ftz, 0>(extreme<float, u32, true, true>(value_of<T, ftz>(a), value_of<T, ftz>(b))); });
  add_binary<T>(add, "max" + m + ".NaN", t, [](T a, T b) { return result_of<T, ftz, 0>(extreme<float, u32, false, true>(value_of<T, ftz>(a), value_of<T, ftz>(b))); });
  add_unary<T>(add, "ex2.approx" + m, t, [](T a) { return result_of<T, ftz, 0>(exp2_approximate(value_of<T, ftz>(a))); });
  comparison_rows<T>(add, m + "." + t, [](T v) { return value_of<T, ftz>(v); });
}

template <class T>
void half_conversions(const Adder& add, const std::string& t) {
  // The upper half of a float: a NaN keeps its bits.
  if constexpr (std::is_same_v<T, Bfloat>) add("cvt.f32." + t, [](T a) -> float { return to_float(a); });
  else add("cvt.f32." + t, [](T a) -> float { return canonical(to_float(a)); });
  add("cvt.ftz.f32." + t, [](T a) -> float { return flush(to_float(a)); });
  add("cvt.sat.f32." + t, [](T a) -> float { return saturate(to_float(a)); });
  add("cvt.f64." + t, [](T a) -> double { return to_float(a); });
  const auto toward_zero = [](float v) { if constexpr (std::is_same_v<T, Half>) return to_half_toward_zero(v); else return to_bfloat_toward_zero(v); };
  for (const std::string& f : {std::string(), std::string(".ftz")}) {
    add("cvt.rn" + f + "." + t + ".f32", [](float a) -> T { return round_to<T>(a); });
    add("cvt.rn.sat" + f + "." + t + ".f32", [](float a) -> T { return round_to<T>(saturate(a)); });
    add("cvt.rn.relu" + f + "." + t + ".f32", [](float a) -> T { return round_to<T>(rectified(a)); });
    add("cvt.rz" + f + "." + t + ".f32", [](float a) -> T { return decltype(toward_zero){}(a); });
  }
  add("cvt.rn." + t + ".f64", [](double a) -> T { return round_to<T>(sticky_float(a)); });
  add("cvt.rn." + t + "x2.f32", [](float a, float b) -> u32 { return round_to<T>(b).bits | static_cast<u32>(round_to<T>(a).bits) << 16; });
  add("cvt.rn.relu." + t + "x2.f32", [](float a, float b) -> u32 { return round_to<T>(rectified(b)).bits | static_cast<u32>(round_to<T>(rectified(a)).bits) << 16; });
  add("cvt.rz." + t + "x2.f32", [](float a, float b) -> u32 { return decltype(toward_zero){}(b).bits | static_cast<u32>(decltype(toward_zero){}(a).bits) << 16; });
  const auto integers = [&]<class D>(const std::string& d, D) {
    add("cvt.rni." + d + "." + t, [](T v) -> D { return to_integer<D, float>(std::nearbyint(to_float(v))); });
    add("cvt.rzi." + d + "." + t, [](T v) -> D { return to_integer<D, float>(std::trunc(to_float(v))); });
    add("cvt.rmi." + d + "." + t, [](T v) -> D { return to_integer<D, float>(std::floor(to_float(v))); });
    add("cvt.rpi." + d + "." + t, [](T v) -> D { return to_integer<D, float>(std::ceil(to_float(v))); });
    // 64-bit integers do not fit a double; a sticky bit keeps the one rounding right.
    add("cvt.rn." + t + "." + d, [](D v) -> T {
      const double near = static_cast<double>(v);
      return round_to<T>(sticky_float(near));
    });
  };
  integers("u8", u8{}), integers("s8", s8{}), integers("u16", u16{}), integers("s16", s16{});
  integers("u32", u32{}), integers("s32", s32{}), integers("u64", u64{}), integers("s64", s64{});
  add("cvt.rni." + t + "." + t, [](T v) -> T { return round_to<T>(std::nearbyint(to_float(v))); });
  add("cvt.rzi." + t + "." + t, [](T v) -> T { return round_to<T>(std::trunc(to_float(v))); });
  add("cvt.rmi." + t + "." + t, [](T v) -> T { return round_to<T>(std::floor(to_float(v))); });
  add("cvt.rpi." + t + "." + t, [](T v) -> T { return round_to<T>(std::ceil(to_float(v))); });
  // Mixed precision: small factors, 32-bit sum.
  for (const std::string& r : {std::string(), std::string(".rn")}) {
    add("fma" + r + ".f32." + t, [](T a, T b, float c) -> float { return canonical(__builtin_fmaf(to_float(a), to_float(b), c)); });
    add("add" + r + ".f32." + t, [](T a, float c) -> float { return canonical(to_float(a) + c); });
    add("sub" + r + ".f32." + t, [](T a, float c) -> float { return canonical(to_float(a) - c); });
  }
}

// An 8-bit float of E exponent and M mantissa bits, to a half exactly and from a float to nearest with saturation.
template <int E, int M>
u16 widen_eight(u8 v) {
  const u32 sign = static_cast<u32>(v & 0x80) << 8, magnitude = v & 0x7fu;
  if constexpr (E == 5) {
    return static_cast<u16>((magnitude > 0x7c ? 0x7fffu : sign | magnitude << 8));
  } else {
    if (magnitude == 0x7f) return 0x7fff;
    const u32 exponent = magnitude >> M, mantissa = magnitude & ((1u << M) - 1);
    const float scaled = exponent ? std::ldexp(static_cast<float>((1 << M) | mantissa), static_cast<int>(exponent) - 7 - M) : std::ldexp(static_cast<float>(mantissa), -6 - M);
    return static_cast<u16>(sign | to_half(scaled).bits);
  }
}
template <int E, int M>
u8 narrow_eight(float v) {
  const u8 sign = std::signbit(v) ? 0x80 : 0;
  if (v != v) return 0x7f;
  constexpr int bias = E == 4 ? 7 : 15;
  const float largest = E == 4 ? 448.0f : 57344.0f;
  const float magnitude = std::fmin(std::fabs(v), largest);
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  const float units = std::nearbyint(std::ldexp(magnitude, M - exponent));
  u32 bits = static_cast<u32>(units);
  bits += static_cast<u32>(exponent + bias - 1) << M;
  const u32 most = E == 4 ? 0x7e : 0x7b;
  return static_cast<u8>(sign | std::min(bits, most));
}
template <int E, int M>
void eight_bit_rows(const Adder& add, const std::string& t) {
  add("cvt.rn.f16x2." + t, [](u16 a) -> u32 { return widen_eight<E, M>(static_cast<u8>(a)) | static_cast<u32>(widen_eight<E, M>(static_cast<u8>(a >> 8))) << 16; });
  add("cvt.rn.satfinite." + t + ".f32", [](float a, float b) -> u16 { return static_cast<u16>(narrow_eight<E, M>(b) | narrow_eight<E, M>(a) << 8); });
  add("cvt.rn.satfinite." + t + ".f16x2", [](u32 a) -> u16 {
    return static_cast<u16>(narrow_eight<E, M>(to_float(Half{static_cast<u16>(a)})) | narrow_eight<E, M>(to_float(Half{static_cast<u16>(a >> 16)})) << 8);
  });
}

void half_rows(Operations& table) {
  const Adder add{table};
  half_arithmetic<Half, false, 0>(add, "f16"), half_arithmetic<Half, false, 1>(add, "f16"), half_arithmetic<Half, false, 2>(add, "f16");
  half_arithmetic<Half, true, 0>(add, "f16"), half_arithmetic<Half, true, 1>(add, "f16"), half_arithmetic<Half, true, 2>(add, "f16");
  half_arithmetic<Bfloat, false, 0>(add, "bf16"), half_arithmetic<Bfloat, false, 2>(add, "bf16");
  half_functions<Half, false>(add, "f16"), half_functions<Half, true>(add, "f16");
  half_functions<Bfloat, false>(add, "bf16"), half_functions<Bfloat, true>(add, "bf16");
  add_unary<Half>(add, "tanh.approx", "f16", [](Half a) { return to_half(tanh_approximate(to_float(a))); });
  add_unary<Bfloat>(add, "tanh.approx", "bf16", [](Bfloat a) { return to_bfloat(tanh_approximate(to_float(a))); });
  half_conversions<Half>(add, "f16"), half_conversions<Bfloat>(add, "bf16");
  eight_bit_rows<4, 3>(add, "e4m3x2"), eight_bit_rows<5, 2>(add, "e5m2x2");
}

}  // namespace
}  // namespace cudal1::sim
