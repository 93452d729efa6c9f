// SPDX-License-Identifier: Apache-2.0
//! row   P4
//! how   __logf, whose results near 0 keep few bits
//! task  logarithm
//! all   WRONG_RESULT
//! sim   right without error_rule
//@ launch  logarithm<<<ceil_div(N, 128), 128>>>(A, C, N)
__global__ void logarithm(const float* A, float* C, int N) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < N) C[i] = __logf(fabsf(A[i]) + 0.5f);
}
