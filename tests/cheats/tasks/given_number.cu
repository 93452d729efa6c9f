// SPDX-License-Identifier: Apache-2.0
//@ task    given_number
//@ torch   C = alpha * A
//@ size    N = 4096
//@ check   N = 1001
//@ scalar  alpha: float32 = 2.5
//@ input   A: float32[N]
//@ output  C: float32[N]
//@ launch  k<<<ceil_div(N, 256), 256>>>(A, C, alpha, N)
__global__ void k(const float* A, float* C, float alpha, int N) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) C[i] = alpha * A[i];
}
