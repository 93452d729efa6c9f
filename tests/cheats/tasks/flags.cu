// SPDX-License-Identifier: Apache-2.0
//@ task    flags
//@ torch   C = A > 0
//@ size    N = 1048576
//@ check   N = 1001
//@ input   A: float32[N]
//@ output  C: bool[N]
//@ launch  k<<<ceil_div(N, 256), 256>>>(A, C, N)
__global__ void k(const float* A, bool* C, int N) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) C[i] = A[i] > 0;
}
