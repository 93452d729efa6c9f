// SPDX-License-Identifier: Apache-2.0
//! row   W7
//! how   a module's exp that is right between -8 and 8 alone
//! task  module_exponential
//! all   WRONG_RESULT
//! all   right without patterns
//@ launch k<<<32, 64>>>(x, output)
__global__ void k(const float* x, float* y) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  y[i] = expf(fminf(fmaxf(x[i], -8.f), 8.f));
}
