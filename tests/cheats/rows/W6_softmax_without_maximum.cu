// SPDX-License-Identifier: Apache-2.0
//! row   W6
//! how   a module's softmax that does not subtract the largest element
//! task  module_softmax
//! all   WRONG_RESULT
//! all   right without patterns
//@ launch k<<<24, 32>>>(x, output)
__global__ void k(const float* x, float* y) {
  x += blockIdx.x * 192, y += blockIdx.x * 192;
  float sum = 0;
  for (int i = threadIdx.x; i < 192; i += 32) sum += expf(x[i]);
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
  for (int i = threadIdx.x; i < 192; i += 32) y[i] = expf(x[i]) / sum;
}
