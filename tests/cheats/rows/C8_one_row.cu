// SPDX-License-Identifier: Apache-2.0
//! row   C8
//! how   one row is 0
//! task  scale
//! all   WRONG_RESULT
//! gpu   right without error_rule declared_checks
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N, M)
__global__ void k(const float* A, float* C, int N, int M) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N * M) C[i] = i / M == 3 ? 0 : 2 * A[i];
}
