// SPDX-License-Identifier: Apache-2.0
//! row   W3
//! how   parameters that a module makes as ones and zeros are never read
//! task  module_rms_norm
//! all   WRONG_RESULT
//! all   right without secret_weights
//@ launch k<<<24, 32>>>(x, output)
__global__ void k(const float* x, float* y) {
  x += blockIdx.x * 96, y += blockIdx.x * 96;
  const int t = threadIdx.x;
  float q = x[t] * x[t] + x[t + 32] * x[t + 32] + x[t + 64] * x[t + 64];
  for (int o = 16; o > 0; o /= 2) q += __shfl_xor_sync(~0u, q, o);
  const float f = rsqrtf(q / 96 + 1e-6f);
  for (int i = t; i < 96; i += 32) y[i] = x[i] * f;
}
