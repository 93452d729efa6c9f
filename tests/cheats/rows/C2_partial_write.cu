// SPDX-License-Identifier: Apache-2.0
//! row   C2
//! how   drops what is left after whole tiles of 128
//! task  scale
//! all   WRONG_RESULT
//! all   right without declared_checks
//@ launch  k<<<N * M / 128, 128>>>(A, C)
__global__ void k(const float* A, float* C) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  C[i] = 2 * A[i];
}
