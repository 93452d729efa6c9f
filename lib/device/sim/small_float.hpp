// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace cudal1::sim {

// The 16-bit floats as bits, and exact conversions. Written without branches, so that loops over lanes vectorise.
struct Half {
  std::uint16_t bits;
};
struct Bfloat {
  std::uint16_t bits;
};

inline float to_float(Half h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h.bits & 0x8000u) << 16, magnitude = h.bits & 0x7fffu;
  // A denormal is its mantissa times 2^-24, which the float unit computes exactly.
  const float denormal = static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24f;
  const std::uint32_t normal = (magnitude << 13) + (magnitude >= 0x7c00u ? 0x70000000u : 0x38000000u);
  const std::uint32_t bits = magnitude < 0x400u ? std::bit_cast<std::uint32_t>(denormal) : normal;
  return std::bit_cast<float>(bits | sign);
}
inline float to_float(Bfloat b) { return std::bit_cast<float>(static_cast<std::uint32_t>(b.bits) << 16); }

// Eight bits: a sign, four of exponent and three of fraction, no infinity, one NaN; and the upper half of a Half.
inline float e4m3_to_float(std::uint8_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x80u) << 24, magnitude = bits & 0x7fu;
  const float denormal = static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-9f;
  const std::uint32_t normal = (magnitude << 20) + (120u << 23);
  const std::uint32_t value = magnitude == 0x7fu ? 0x7fc00000u : magnitude < 8u ? std::bit_cast<std::uint32_t>(denormal) : normal;
  return std::bit_cast<float>(value | sign);
}
inline float e5m2_to_float(std::uint8_t bits) { return to_float(Half{static_cast<std::uint16_t>(bits << 8)}); }

// To nearest, ties to even. Every NaN becomes the hardware's: 0x7fff.
inline Half to_half(float v) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(v), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  const std::uint32_t normal = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1)) >> 13;
  // Adding 0.5 aligns a small value's last half bit with the float's last bit, so that the addition rounds it.
  const std::uint32_t small = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  std::uint32_t r = magnitude < 0x38800000u ? small : normal;
  r = magnitude >= 0x477ff000u ? 0x7c00u : r;
  r = magnitude > 0x7f800000u ? 0x7fffu : r | sign;
  return {static_cast<std::uint16_t>(r)};
}
inline Bfloat to_bfloat(float v) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(v);
  const std::uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
  return {static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : rounded)};
}

// Toward zero; what is too large becomes the largest finite value.
inline Half to_half_toward_zero(float v) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(v), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return {0x7fff};
  if (magnitude == 0x7f800000u) return {static_cast<std::uint16_t>(sign | 0x7c00u)};
  if (magnitude >= 0x47800000u) return {static_cast<std::uint16_t>(sign | 0x7bffu)};
  if (magnitude >= 0x38800000u) return {static_cast<std::uint16_t>(sign | (magnitude - 0x38000000u) >> 13)};
  const std::uint32_t shift = 126 - (magnitude >> 23);
  const std::uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  return {static_cast<std::uint16_t>(sign | (shift > 31 ? 0 : mantissa >> shift))};
}
inline Bfloat to_bfloat_toward_zero(float v) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(v);
  return {static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : bits >> 16)};
}

// A sum, product or fused multiply-add is exact in double (or nearly so) and rounded once: through a float with its last bit
// made sticky, which leaves the second rounding to decide alone.
inline float sticky_float(double v) {
  const float near = static_cast<float>(v);
  if (static_cast<double>(near) == v || v != v) return near;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(near);
  if ((bits & 0x7f800000u) == 0x7f800000u) return near;
  const double magnitude = v < 0 ? -v : v, rounded = near < 0 ? -static_cast<double>(near) : static_cast<double>(near);
  const std::uint32_t below = rounded > magnitude ? bits - 1 : bits;
  return std::bit_cast<float>(below | 1u);
}

}  // namespace cudal1::sim
