// SPDX-License-Identifier: Apache-2.0
//! row   X3
//! how   a grid of 2^33 blocks
//! task  scale
//! all   INVALID_PLAN
//@ launch  k<<<8589934592, 256>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = 2 * A[i];
}
