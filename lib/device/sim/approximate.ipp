// SPDX-License-Identifier: Apache-2.0
// Exponential and hyperbolic tangent, each within the error that the PTX manual states for the hardware.
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
