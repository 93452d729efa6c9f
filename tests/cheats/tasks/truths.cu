// SPDX-License-Identifier: Apache-2.0
//@ task    truths
//@ torch   C = A > B
//@ size    N = 8192
//@ check   N = 1001
//@ input   A: float32[N]
//@ input   B: float32[N]
//@ output  C: bool[N]
//@ launch  greater<<<ceil_div(N, 128), 128>>>(A, B, C, N)
__global__ void greater(const float* A, const float* B, bool* C, int N) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < N) C[i] = A[i] > B[i];
}
