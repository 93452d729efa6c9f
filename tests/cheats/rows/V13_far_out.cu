// SPDX-License-Identifier: Apache-2.0
//! row   V13
//! how   the integral part by way of 16 bits: right for all numbers of ordinary size
//! task  floored
//! all   WRONG_RESULT
//! sim   right without patterns
//@ launch  k<<<ceil_div(N, 256), 256>>>(A, C, N)
__global__ void k(const float* A, float* C, int N) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N) return;
  float whole = static_cast<short>(static_cast<int>(A[i]));
  C[i] = !isfinite(A[i]) ? A[i] : whole > A[i] ? whole - 1 : whole;
}
