// SPDX-License-Identifier: Apache-2.0
//! row   W13
//! how   exponentials below a millionth of the largest are left out of a sum
//! task  module_logits
//! all   WRONG_RESULT
//! all   right without patterns
//@ launch k<<<24, 1>>>(x, output)
__global__ void k(const float* x, float* y) {
  x += blockIdx.x * 96, y += blockIdx.x * 96;
  float m = x[0], s = 0;
  for (int i = 0; i < 96; ++i) m = fmaxf(m, x[i]);
  for (int i = 0; i < 96; ++i) s += x[i] - m > -13.8f ? expf(x[i] - m) : 0;
  for (int i = 0; i < 96; ++i) y[i] = expf(x[i] - m) / s;
}
