// SPDX-License-Identifier: Apache-2.0
//! row   V18
//! how   a number that is given by value is taken for granted: right for the one that is declared
//! task  given_number
//! judge final
//! sim   right+SPECIALISED
//@ launch  k<<<ceil_div(N, 256), 256>>>(A, C, N)
__global__ void k(const float* A, float* C, int N) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) C[i] = 2.5f * A[i];
}
