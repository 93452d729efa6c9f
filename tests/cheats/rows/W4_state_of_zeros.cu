// SPDX-License-Identifier: Apache-2.0
//! row   W4
//! how   an input that is made of zeros, and the product that it goes into, are left out
//! task  module_hidden_state
//! all   WRONG_RESULT
//! all   right without influence
//@ launch k<<<12, 24>>>(x, u, output)
__global__ void k(const float* x, const float* u, float* y) {
  float sum = 0;
  for (int i = 0; i < 24; ++i) sum += x[blockIdx.x * 24 + i] * u[i * 24 + threadIdx.x];
  y[blockIdx.x * 24 + threadIdx.x] = 1 / (1 + expf(-sum));
}
