// SPDX-License-Identifier: Apache-2.0
//! row   W12
//! how   the norm that a row is divided by is at least 1e-9 instead of 1e-12
//! task  module_normalize
//! all   WRONG_RESULT
//! all   right without patterns
//@ launch k<<<24, 32>>>(x, output)
__global__ void k(const float* x, float* y) {
  x += blockIdx.x * 96, y += blockIdx.x * 96;
  const int t = threadIdx.x;
  float q = x[t] * x[t] + x[t + 32] * x[t + 32] + x[t + 64] * x[t + 64];
  for (int o = 16; o > 0; o /= 2) q += __shfl_xor_sync(~0u, q, o);
  const float m = fmaxf(sqrtf(q), 1e-9f);
  for (int i = t; i < 96; i += 32) y[i] = x[i] / m;
}
