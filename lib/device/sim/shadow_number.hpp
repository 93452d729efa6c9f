// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/shadow.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

namespace cudal1::sim {

inline ShadowMode mode_of(const Warp& w) { return w.worker->launch->shadow_mode; }

// Values and shadows of a float or double, one at a time.
struct Number {
  double value = 0, shadow = 0;
  bool known = false;
};

template <class T>
Number number_at(ShadowMode mode, T value, const double* values, const std::uint32_t* tags, unsigned upper) {
  Number n;
  n.value = static_cast<double>(value);
  if constexpr (sizeof(T) == 8) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    n.known = tags[0] == static_cast<std::uint32_t>(bits) && tags[upper] == static_cast<std::uint32_t>(bits >> 32) && values[0] == values[upper];
  } else {
    n.known = tags[0] == std::bit_cast<std::uint32_t>(value);
  }
  n.shadow = n.known ? values[0] : leaf(mode, n.value);
  return n;
}

template <class T>
void set_number(T value, double shadow, double* values, std::uint32_t* tags, unsigned upper) {
  values[0] = std::isfinite(shadow) && std::isfinite(static_cast<double>(value)) ? shadow : static_cast<double>(value);
  if constexpr (sizeof(T) == 8) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    values[upper] = values[0];
    tags[0] = static_cast<std::uint32_t>(bits), tags[upper] = static_cast<std::uint32_t>(bits >> 32);
  } else {
    tags[0] = std::bit_cast<std::uint32_t>(value);
  }
}

}  // namespace cudal1::sim
