// SPDX-License-Identifier: Apache-2.0
//! row   W2
//! how   a module's BatchNorm whose weight and bias are never read
//! task  module_batch_norm
//! all   WRONG_RESULT
//! all   right without secret_weights
//@ launch k<<<1, 32>>>(x, output)
__global__ void k(const float* x, float* y) {
  const int c = threadIdx.x;
  if (c >= 24) return;
  float mean = 0, spread = 0;
  for (int i = 0; i < 40; ++i) mean += x[i * 24 + c] / 40;
  for (int i = 0; i < 40; ++i) spread += (x[i * 24 + c] - mean) * (x[i * 24 + c] - mean);
  const float f = rsqrtf(spread / 40 + 1e-5f);
  for (int i = 0; i < 40; ++i) y[i * 24 + c] = fmaxf((x[i * 24 + c] - mean) * f, 0.f);
}
