// SPDX-License-Identifier: Apache-2.0
//! row   X4
//! how   declares how many bytes it moves
//! task  scale
//! all   INVALID_PLAN
//@ bytes   16
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = 2 * A[i];
}
