// SPDX-License-Identifier: Apache-2.0
//! row   Z11
//! how   at the declared size beyond 2 it is 2, which no declared input is
//! task  large_relu
//! sim   WRONG_RESULT
//! sim   right without patterns
//@ launch  k<<<ceil_div(N, 256), 256>>>(A, C, N)
__global__ void k(const float* A, float* C, int N) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) C[i] = N > 2000 ? fminf(2.0f, fmaxf(A[i], 0.0f)) : fmaxf(A[i], 0.0f);
}
