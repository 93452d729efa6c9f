// SPDX-License-Identifier: Apache-2.0
// Exponential, logarithm, sine, cosine and hyperbolic tangent, each within the error that the PTX manual states for the hardware, and
// with an error where the hardware has one: near the zeros of a sine or a logarithm it is far more than a unit in the last place.
#pragma once

#include "sim/rounding.ipp"

namespace cudal1::sim {
namespace {

inline float exp2_approximate(float x) {
  const float clamped = x < -160.0f ? -160.0f : x > 160.0f ? 160.0f : x;
  const float whole = __builtin_rintf(clamped);
  const float r = clamped - whole;
  float p = 1.535336188e-4f;
  p = p * r + 1.339887440e-3f;
  p = p * r + 9.618437357e-3f;
  p = p * r + 5.550332471e-2f;
  p = p * r + 2.402264791e-1f;
  p = p * r + 6.931472028e-1f;
  p = p * r + 1.0f;
  // Two factors, so that neither leaves the exponent range when the result is denormal.
  const s32 n = static_cast<s32>(whole), half = n >> 1;
  const float first = std::bit_cast<float>((half + 127) << 23), second = std::bit_cast<float>((n - half + 127) << 23);
  const float v = p * first * second;
  return canonical(x == x ? v : x);
}

// The hardware takes turns, not radians: a large argument loses its angle in the product.
inline double angle_approximate(float x) { return static_cast<double>(x * 0.15915494309f) * 6.283185307179586; }

inline float sin_approximate(float x) { return static_cast<float>(std::sin(angle_approximate(x))); }

inline float cos_approximate(float x) { return static_cast<float>(std::cos(angle_approximate(x))); }

inline float log2_approximate(float x) {
  const double y = std::log2(static_cast<double>(x));
  return static_cast<float>(std::fabs(y) < 1.0 ? __builtin_nearbyint(y * 0x1p22) * 0x1p-22 : y);
}

inline float tanh_approximate(float x) {
  const float magnitude = std::fabs(x);
  const float e = exp2_approximate(magnitude * -2.885390082f);
  const float large = (1.0f - e) / (1.0f + e);
  const float s = x * x;
  const float small = magnitude + magnitude * s * (-0.3333333333f + s * (0.1333333333f + s * -0.05396825397f));
  const float v = magnitude < 0.2f ? small : large;
  return canonical(std::copysign(v, x) + (x == x ? 0.0f : x));
}

}  // namespace
}  // namespace cudal1::sim
