// SPDX-License-Identifier: Apache-2.0
//! row   W11
//! how   a maximum begins at -100000 instead of at an element
//! task  module_pool
//! all   WRONG_RESULT
//! all   right without patterns
//@ launch k<<<6, 36>>>(x, output)
__global__ void k(const float* x, float* y) {
  x += blockIdx.x * 144 + threadIdx.x / 6 * 24 + threadIdx.x % 6 * 2;
  y[blockIdx.x * 36 + threadIdx.x] = fmaxf(fmaxf(fmaxf(-100000, x[0]), fmaxf(x[1], x[12])), x[13]);
}
