// SPDX-License-Identifier: Apache-2.0
#pragma once

#define CLAMP(x, low, high) ((x) < (low) ? (low) : (x) > (high) ? (high) : (x))

struct Range {
  float low, high;
};

template <typename T>
__device__ T at(const T* values, int i, int count) {
  return values[i < 0 ? 0 : i >= count ? count - 1 : i];
}
