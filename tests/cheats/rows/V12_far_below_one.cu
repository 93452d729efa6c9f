// SPDX-License-Identifier: Apache-2.0
//! row   V12
//! how   results below 1e-30 become 0, which only arguments near -70 show
//! task  exponential
//! all   WRONG_RESULT
//! all   right without patterns influence
//@ launch  k<<<ceil_div(N, 256), 256>>>(A, C, N)
__global__ void k(const float* A, float* C, int N) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N) return;
  float e = expf(A[i]);
  C[i] = e < 1e-30f ? 0.f : e;
}
