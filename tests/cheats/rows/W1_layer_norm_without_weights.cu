// SPDX-License-Identifier: Apache-2.0
//! row   W1
//! how   a module's LayerNorm whose weight and bias are never read: for every seed they are 1 and 0
//! task  module_layer_norm
//! all   WRONG_RESULT
//! all   right without secret_weights
//@ launch k<<<24, 32>>>(x, output)
__device__ float all(float v) { for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o); return v; }
__global__ void k(const float* x, float* y) {
  x += blockIdx.x * 96, y += blockIdx.x * 96;
  const int t = threadIdx.x;
  const float a = x[t], b = x[t + 32], c = x[t + 64], mean = all(a + b + c) / 96;
  const float f = rsqrtf(all((a - mean) * (a - mean) + (b - mean) * (b - mean) + (c - mean) * (c - mean)) / 96 + 1e-5f);
  y[t] = (a - mean) * f, y[t + 32] = (b - mean) * f, y[t + 64] = (c - mean) * f;
}
