// SPDX-License-Identifier: Apache-2.0
// The shadows of a register's lanes, read and written. Included once for AVX2 and once for the baseline; hence everything here
// has internal linkage.
#pragma once

#include "sim/shadow.hpp"
#include "sim/small_float.hpp"

namespace cudal1::sim {
namespace {

inline ShadowMode mode_of(const Warp& w) { return w.worker->launch->shadow_mode; }

struct Lanes {
  alignas(64) double of[32];
};

// The values of one float, double or half of a register's lanes, as doubles. `plane` is of packed halves.
inline void read_values(const Warp& w, u32 offset, Element type, unsigned plane, Lanes& out) {
  switch (type) {
    case Element::f32: {
      const float* f = row<const float>(w, offset);
      CUDAL1_LANES out.of[l] = static_cast<double>(f[l]);
      return;
    }
    case Element::f64: {
      const double* f = row<const double>(w, offset);
      CUDAL1_LANES out.of[l] = f[l];
      return;
    }
    case Element::f16:
    case Element::bf16: {
      const u16* h = row<const u16>(w, offset);
      for (int l = 0; l < 32; ++l) out.of[l] = type == Element::f16 ? static_cast<double>(to_float(Half{h[l]})) : static_cast<double>(to_float(Bfloat{h[l]}));
      return;
    }
    default: {  // f16x2, bf16x2
      const u32* p = row<const u32>(w, offset);
      for (int l = 0; l < 32; ++l) {
        const auto bits = static_cast<u16>(p[l] >> (16 * plane));
        out.of[l] = type == Element::f16x2 ? static_cast<double>(to_float(Half{bits})) : static_cast<double>(to_float(Bfloat{bits}));
      }
      return;
    }
  }
}

// The same of their shadows; where there is none, the value.
inline void read_shadows(const Warp& w, u32 offset, Element type, unsigned plane, ShadowMode mode, Lanes& out) {
  read_values(w, offset, type, plane, out);
  if (mode == ShadowMode::terms) CUDAL1_LANES out.of[l] = out.of[l] == 0 ? 0.0 : 1.0;
  const Planes p = planes(w, offset).at(plane);
  switch (type) {
    case Element::f32: {
      const u32* bits = row<const u32>(w, offset);
      CUDAL1_LANES out.of[l] = p.tags[l] == bits[l] ? p.values[l] : out.of[l];
      return;
    }
    case Element::f64: {
      const u64* bits = row<const u64>(w, offset);
      const Planes upper = p.at(2);
      CUDAL1_LANES {
        const u64 tag = p.tags[l] | static_cast<u64>(upper.tags[l]) << 32;
        out.of[l] = tag == bits[l] && p.values[l] == upper.values[l] ? p.values[l] : out.of[l];
      }
      return;
    }
    case Element::f16:
    case Element::bf16: {
      const u16* bits = row<const u16>(w, offset);
      for (int l = 0; l < 32; ++l) out.of[l] = p.tags[l] == (half_tag | bits[l]) ? p.values[l] : out.of[l];
      return;
    }
    default: {
      const u32* bits = row<const u32>(w, offset);
      for (int l = 0; l < 32; ++l) out.of[l] = p.tags[l] == (half_tag | (bits[l] >> (16 * plane) & 0xffffu)) ? p.values[l] : out.of[l];
      return;
    }
  }
}

// Gives the values that a register holds by now their shadows. Where either is no number, the shadow is the value.
inline void write_shadows(const Warp& w, u32 offset, Element type, unsigned plane, ShadowMode mode, Lanes& shadow) {
  Lanes value;
  read_values(w, offset, type, plane, value);
  const double most = mode == ShadowMode::terms ? 1e18 : HUGE_VAL;
  CUDAL1_LANES {
    const bool numbers = std::fabs(shadow.of[l]) < HUGE_VAL && std::fabs(value.of[l]) < HUGE_VAL;
    const double kept = mode == ShadowMode::terms ? 1.0 : value.of[l];
    shadow.of[l] = numbers ? (shadow.of[l] < most ? shadow.of[l] : most) : kept;
  }
  const u32* lanes = w.lanes.data();
  const Planes p = planes(w, offset).at(plane);
  const auto put = [&](const Planes& into, auto tag) {
    CUDAL1_LANES {
      into.values[l] = lanes[l] ? shadow.of[l] : into.values[l];
      into.tags[l] = lanes[l] ? tag(l) : into.tags[l];
    }
  };
  switch (type) {
    case Element::f32: {
      const u32* bits = row<const u32>(w, offset);
      put(p, [=](int l) { return bits[l]; });
      return;
    }
    case Element::f64: {
      const u64* bits = row<const u64>(w, offset);
      put(p, [=](int l) { return static_cast<u32>(bits[l]); });
      put(p.at(2), [=](int l) { return static_cast<u32>(bits[l] >> 32); });
      return;
    }
    case Element::f16:
    case Element::bf16: {
      const u16* bits = row<const u16>(w, offset);
      put(p, [=](int l) { return half_tag | bits[l]; });
      return;
    }
    default: {
      const u32* bits = row<const u32>(w, offset);
      put(p, [=](int l) { return half_tag | (bits[l] >> (16 * plane) & 0xffffu); });
      return;
    }
  }
}
}  // namespace
}  // namespace cudal1::sim
