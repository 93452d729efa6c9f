// SPDX-License-Identifier: Apache-2.0
// 32 bits do not count the elements of 16 GiB.
//@ launch swish<<<1 << 24, 256>>>(x, output)
__global__ void swish(const float* __restrict__ x, float* __restrict__ output) {
  unsigned i = blockIdx.x * 256u + threadIdx.x;
  if (i < (1u << 31)) output[i] = x[i] / (1 + expf(-x[i]));
}
