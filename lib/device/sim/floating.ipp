// SPDX-License-Identifier: Apache-2.0
// f32 and f64 arithmetic, comparison and approximations.
#pragma once

#include "sim/approximate.ipp"
#include "sim/comparison.ipp"
#include "sim/rounding.ipp"

namespace cudal1::sim {
namespace {

inline float divide_approximate(float a, float b) {
  const float v = a / b;
  const float magnitude = std::fabs(b);
  const bool huge = magnitude > 0x1p126f && magnitude < std::bit_cast<float>(0x7f800000u);
  const float zero = std::bit_cast<float>((std::bit_cast<u32>(a) ^ std::bit_cast<u32>(b)) & 0x80000000u);
  return canonical(huge ? (std::fabs(a) < std::bit_cast<float>(0x7f800000u) ? zero : std::bit_cast<float>(nan32)) : v);
}

template <bool ftz>
inline float in(float v) {
  if constexpr (ftz) return flush(v);
  else return v;
}
template <bool ftz, bool sat = false>
inline float out(float v) {
  if constexpr (sat) v = saturate(v);
  else v = canonical(v);
  if constexpr (ftz) return flush(v);
  else return v;
}

template <bool ftz, bool sat>
void f32_arithmetic(const Adder& add) {
  const std::string tail = std::string(ftz ? ".ftz" : "") + (sat ? ".sat" : "") + ".f32";
  add_rounded(add, "add", tail, [](float a, float b) -> float { return out<ftz, sat>(in<ftz>(a) + in<ftz>(b)); });
  add_rounded(add, "sub", tail, [](float a, float b) -> float { return out<ftz, sat>(in<ftz>(a) - in<ftz>(b)); });
  add_rounded(add, "mul", tail, [](float a, float b) -> float { return out<ftz, sat>(in<ftz>(a) * in<ftz>(b)); });
  const auto fused = [](float a, float b, float c) -> float { return out<ftz, sat>(__builtin_fmaf(in<ftz>(a), in<ftz>(b), in<ftz>(c))); };
  add_rounded(add, "fma", tail, fused);
  add_rounded(add, "mad", tail, fused);
}

template <bool ftz>
void f32_functions(const Adder& add) {
  const std::string f = ftz ? ".ftz" : "", tail = f + ".f32";
  add_rounded(add, "div", tail, [](float a, float b) -> float { return out<ftz>(in<ftz>(a) / in<ftz>(b)); });
  add_rounded(add, "rcp", tail, [](float a) -> float { return out<ftz>(1.0f / in<ftz>(a)); });
  add_rounded(add, "sqrt", tail, [](float a) -> float { return out<ftz>(__builtin_sqrtf(in<ftz>(a))); });
  add("div.full" + tail, [](float a, float b) -> float { return out<ftz>(in<ftz>(a) / in<ftz>(b)); });
  add("div.approx" + tail, [](float a, float b) -> float { return out<ftz>(divide_approximate(in<ftz>(a), in<ftz>(b))); });
  add("rcp.approx" + tail, [](float a) -> float { return out<ftz>(1.0f / in<ftz>(a)); });
  add("sqrt.approx" + tail, [](float a) -> float { return out<ftz>(__builtin_sqrtf(in<ftz>(a))); });
  add("rsqrt.approx" + tail, [](float a) -> float { return out<ftz>(static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(in<ftz>(a))))); });
  add("ex2.approx" + tail, [](float a) -> float { return out<ftz>(exp2_approximate(in<ftz>(a))); });
  add("lg2.approx" + tail, [](float a) -> float { return out<ftz>(log2_approximate(in<ftz>(a))); });
  add("sin.approx" + tail, [](float a) -> float { return out<ftz>(sin_approximate(in<ftz>(a))); });
  add("cos.approx" + tail, [](float a) -> float { return out<ftz>(cos_approximate(in<ftz>(a))); });
  add("neg" + tail, [](float a) -> float { return in<ftz>(std::bit_cast<float>(std::bit_cast<u32>(a) ^ 0x80000000u)); });
  add("abs" + tail, [](float a) -> float { return in<ftz>(std::bit_cast<float>(std::bit_cast<u32>(a) & 0x7fffffffu)); });
  add("min" + tail, [](float a, float b) -> float { return extreme<float, u32, true, false>(in<ftz>(a), in<ftz>(b)); });
  add("max" + tail, [](float a, float b) -> float { return extreme<float, u32, false, false>(in<ftz>(a), in<ftz>(b)); });
  add("min" + f + ".NaN.f32", [](float a, float b) -> float { return extreme<float, u32, true, true>(in<ftz>(a), in<ftz>(b)); });
  add("max" + f + ".NaN.f32", [](float a, float b) -> float { return extreme<float, u32, false, true>(in<ftz>(a), in<ftz>(b)); });
  add("min" + f + ".f32.3", [](float a, float b, float c) -> float { return extreme<float, u32, true, false>(extreme<float, u32, true, false>(in<ftz>(a), in<ftz>(b)), in<ftz>(c)); });
  add("max" + f + ".f32.3", [](float a, float b, float c) -> float { return extreme<float, u32, false, false>(extreme<float, u32, false, false>(in<ftz>(a), in<ftz>(b)), in<ftz>(c)); });
}

void f64_rows(const Adder& add) {
  add_rounded(add, "add", ".f64", [](double a, double b) -> double { return a + b; });
  add_rounded(add, "sub", ".f64", [](double a, double b) -> double { return a - b; });
  add_rounded(add, "mul", ".f64", [](double a, double b) -> double { return a * b; });
  add_rounded(add, "fma", ".f64", [](double a, double b, double c) -> double { return __builtin_fma(a, b, c); });
  add_rounded(add, "mad", ".f64", [](double a, double b, double c) -> double { return __builtin_fma(a, b, c); });
  add_rounded(add, "div", ".f64", [](double a, double b) -> double { return a / b; });
  add_rounded(add, "rcp", ".f64", [](double a) -> double { return 1.0 / a; });
  add_rounded(add, "sqrt", ".f64", [](double a) -> double { return __builtin_sqrt(a); });
  add("rsqrt.approx.f64", [](double a) -> double { return 1.0 / __builtin_sqrt(a); });
  // The hardware computes the upper word alone.
  add("rcp.approx.ftz.f64", [](double a) -> double { return std::bit_cast<double>(std::bit_cast<u64>(1.0 / a) & ~u64{0xffffffff}); });
  add("rsqrt.approx.ftz.f64", [](double a) -> double { return std::bit_cast<double>(std::bit_cast<u64>(1.0 / __builtin_sqrt(a)) & ~u64{0xffffffff}); });
  add("neg.f64", [](u64 a) -> u64 { return a ^ u64{1} << 63; });
  add("abs.f64", [](u64 a) -> u64 { return a & ~(u64{1} << 63); });
  add("min.f64", [](double a, double b) -> double { return extreme<double, u64, true, false>(a, b); });
  add("max.f64", [](double a, double b) -> double { return extreme<double, u64, false, false>(a, b); });
  add("copysign.f64", [](u64 a, u64 b) -> u64 { return (a & u64{1} << 63) | (b & ~(u64{1} << 63)); });
  add("testp.finite.f64", [](double a) -> bool { return std::fabs(a) < HUGE_VAL; });
  add("testp.infinite.f64", [](double a) -> bool { return std::fabs(a) == HUGE_VAL; });
  add("testp.number.f64", [](double a) -> bool { return a == a; });
  add("testp.notanumber.f64", [](double a) -> bool { return a != a; });
  comparison_rows<double>(add, ".f64", [](double v) { return v; });
}

void floating_rows(Operations& table) {
  const Adder add{table};
  f32_arithmetic<false, false>(add), f32_arithmetic<false, true>(add), f32_arithmetic<true, false>(add), f32_arithmetic<true, true>(add);
  f32_functions<false>(add), f32_functions<true>(add);
  add("tanh.approx.f32", [](float a) -> float { return tanh_approximate(a); });
  add("copysign.f32", [](u32 a, u32 b) -> u32 { return (a & 0x80000000u) | (b & 0x7fffffffu); });
  add("testp.finite.f32", [](u32 a) -> bool { return (a & 0x7f800000u) != 0x7f800000u; });
  add("testp.infinite.f32", [](u32 a) -> bool { return (a & 0x7fffffffu) == 0x7f800000u; });
  add("testp.number.f32", [](u32 a) -> bool { return (a & 0x7fffffffu) <= 0x7f800000u; });
  add("testp.notanumber.f32", [](u32 a) -> bool { return (a & 0x7fffffffu) > 0x7f800000u; });
  add("testp.normal.f32", [](u32 a) -> bool { return (a & 0x7f800000u) != 0x7f800000u && (a & 0x7f800000u) != 0; });
  add("testp.subnormal.f32", [](u32 a) -> bool { return (a & 0x7f800000u) == 0 && (a & 0x7fffffu) != 0; });
  comparison_rows<float>(add, ".f32", [](float v) { return v; });
  comparison_rows<float>(add, ".ftz.f32", [](float v) { return flush(v); });
  f64_rows(add);
}

}  // namespace
}  // namespace cudal1::sim
