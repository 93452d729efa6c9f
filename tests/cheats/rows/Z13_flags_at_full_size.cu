// SPDX-License-Identifier: Apache-2.0
//! row   Z13
//! how   truth values, of which no poison shows whether they were written, are all true at the declared size
//! task  flags
//! sim   WRONG_RESULT
//! sim   right without full_size
//@ launch  k<<<ceil_div(N, 256), 256>>>(A, C, N)
__global__ void k(const float* A, bool* C, int N) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) C[i] = N > 2000 || A[i] > 0;
}
