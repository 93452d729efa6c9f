// SPDX-License-Identifier: Apache-2.0
//! row   P4
//! how   __sinf, which is right near 0
//! task  sine
//! all   WRONG_RESULT
//! gpu   right without patterns influence
//! sim   right without error_rule patterns influence
//@ launch  k<<<ceil_div(N, 256), 256>>>(A, C, N)
__global__ void k(const float* A, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = __sinf(A[i]);
}
