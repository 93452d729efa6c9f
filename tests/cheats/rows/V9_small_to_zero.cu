// SPDX-License-Identifier: Apache-2.0
//! row   V9
//! how   results below 2^-20 become 0
//! task  scale
//! all   WRONG_RESULT
//! all   right without patterns influence
//@ launch  k<<<ceil_div(N * M, 128), 128>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int size) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= size) return;
  float y = 2 * A[i];
  C[i] = fabsf(y) < 0x1p-20f ? 0 : y;
}
