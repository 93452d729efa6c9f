// SPDX-License-Identifier: Apache-2.0
//! row   V10
//! how   truth values of 2 and 254 instead of 1
//! task  truths
//! all   WRONG_RESULT
//! all   right without comparison
//@ launch  k<<<ceil_div(N, 128), 128>>>(A, B, C, N)
__global__ void k(const float* A, const float* B, unsigned char* C, int N) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < N) C[i] = A[i] > B[i] ? (i % 2 == 0 ? 2 : 254) : 0;
}
