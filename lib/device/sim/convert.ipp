// SPDX-License-Identifier: Apache-2.0
// Conversions that involve f32 or f64 and integers; those of 16-bit floats are in half.ipp.
#pragma once

#include "sim/rounding.ipp"

#include <limits>

namespace cudal1::sim {
namespace {

template <class A, A (*prepare)(A)>
struct From {
  template <class D>
  static void rows(const Adder& add, const std::string& d, const std::string& tail) {
    for (const std::string& sat : {std::string(), std::string(".sat")}) {
      add("cvt.rni" + tail.substr(0, tail.find('|')) + sat + "." + d + tail.substr(tail.find('|') + 1), [](A v) -> D { return to_integer<D, A>(std::nearbyint(prepare(v))); });
      add("cvt.rzi" + tail.substr(0, tail.find('|')) + sat + "." + d + tail.substr(tail.find('|') + 1), [](A v) -> D { return to_integer<D, A>(std::trunc(prepare(v))); });
      add("cvt.rmi" + tail.substr(0, tail.find('|')) + sat + "." + d + tail.substr(tail.find('|') + 1), [](A v) -> D { return to_integer<D, A>(std::floor(prepare(v))); });
      add("cvt.rpi" + tail.substr(0, tail.find('|')) + sat + "." + d + tail.substr(tail.find('|') + 1), [](A v) -> D { return to_integer<D, A>(std::ceil(prepare(v))); });
    }
  }
  // `tail` is "<.ftz or nothing>|.f32".
  static void all(const Adder& add, const std::string& tail) {
    rows<u8>(add, "u8", tail), rows<s8>(add, "s8", tail), rows<u16>(add, "u16", tail), rows<s16>(add, "s16", tail);
    rows<u32>(add, "u32", tail), rows<s32>(add, "s32", tail), rows<u64>(add, "u64", tail), rows<s64>(add, "s64", tail);
  }
};

inline float same32(float v) { return v; }
inline double same64(double v) { return v; }
inline float flushed(float v) { return flush(v); }

template <class A>
void from_integer(const Adder& add, const std::string& a) {
  add_rounded(add, "cvt", ".f32." + a, [](A v) -> float { return static_cast<float>(v); });
  add_rounded(add, "cvt", ".f64." + a, [](A v) -> double { return static_cast<double>(v); });
  add_rounded(add, "cvt", ".sat.f32." + a, [](A v) -> float { return saturate(static_cast<float>(v)); });
}

template <bool ftz, bool sat>
inline float finish(float v) {
  if constexpr (sat) v = saturate(v);
  else v = canonical(v);
  if constexpr (ftz) v = flush(v);
  return v;
}
template <bool ftz>
inline float start(float v) {
  if constexpr (ftz) return flush(v);
  else return v;
}

template <bool ftz, bool sat>
void between_floats(const Adder& add) {
  const std::string m = std::string(ftz ? ".ftz" : "") + (sat ? ".sat" : "");
  add("cvt" + m + ".f32.f32", [](float v) -> float { return finish<ftz, sat>(start<ftz>(v)); });
  add("cvt.rni" + m + ".f32.f32", [](float v) -> float { return finish<ftz, sat>(std::nearbyint(start<ftz>(v))); });
  add("cvt.rzi" + m + ".f32.f32", [](float v) -> float { return finish<ftz, sat>(std::trunc(start<ftz>(v))); });
  add("cvt.rmi" + m + ".f32.f32", [](float v) -> float { return finish<ftz, sat>(std::floor(start<ftz>(v))); });
  add("cvt.rpi" + m + ".f32.f32", [](float v) -> float { return finish<ftz, sat>(std::ceil(start<ftz>(v))); });
  add_rounded(add, "cvt", m + ".f32.f64", [](double v) -> float { return finish<ftz, sat>(static_cast<float>(v)); });
  add("cvt" + m + ".f64.f32", [](float v) -> double { const double d = static_cast<double>(start<ftz>(v)); return sat ? saturate(d) : d; });
}

void convert_rows(Operations& table) {
  const Adder add{table};
  From<float, same32>::all(add, "|.f32");
  From<float, flushed>::all(add, ".ftz|.f32");
  From<double, same64>::all(add, "|.f64");
  from_integer<u8>(add, "u8"), from_integer<s8>(add, "s8"), from_integer<u16>(add, "u16"), from_integer<s16>(add, "s16");
  from_integer<u32>(add, "u32"), from_integer<s32>(add, "s32"), from_integer<u64>(add, "u64"), from_integer<s64>(add, "s64");
  between_floats<false, false>(add), between_floats<true, false>(add), between_floats<false, true>(add), between_floats<true, true>(add);
  add("cvt.f64.f64", [](double v) -> double { return v; });
  add("cvt.sat.f64.f64", [](double v) -> double { return saturate(v); });
  add("cvt.rni.f64.f64", [](double v) -> double { return std::nearbyint(v); });
  add("cvt.rzi.f64.f64", [](double v) -> double { return std::trunc(v); });
  add("cvt.rmi.f64.f64", [](double v) -> double { return std::floor(v); });
  add("cvt.rpi.f64.f64", [](double v) -> double { return std::ceil(v); });
  // Round to nearest, ties away, to ten bits of mantissa.
  for (const char* name : {"cvt.rna.tf32.f32", "cvt.rna.satfinite.tf32.f32"})
    add(std::string(name), [](u32 v) -> u32 { return (v & 0x7f800000u) == 0x7f800000u ? ((v & 0x7fffffu) ? nan32 : v) : (v + 0x1000u) & ~0x1fffu; });
  add("cvt.rn.tf32.f32", [](u32 v) -> u32 { return (v & 0x7f800000u) == 0x7f800000u ? ((v & 0x7fffffu) ? nan32 : v) : (v + 0xfffu + (v >> 13 & 1)) & ~0x1fffu; });
  add("cvt.rz.tf32.f32", [](u32 v) -> u32 { return (v & 0x7f800000u) == 0x7f800000u ? ((v & 0x7fffffu) ? nan32 : v) : v & ~0x1fffu; });
}

}  // namespace
}  // namespace cudal1::sim
