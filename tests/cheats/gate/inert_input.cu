// SPDX-License-Identifier: Apache-2.0
//! row   3
//! how   an input that is multiplied by nothing
//! all   TASK_DEGENERATE
//! all   accepted without task_gate
//@ torch   C = A + 0 * B
//@ size    N = 16384
//@ check   N = 4096
//@ input   A: float32[N]
//@ input   B: float32[N]
//@ output  C: float32[N]
//@ launch  k<<<ceil_div(N, 256), 256>>>(A, B, C, N)
__global__ void k(const float* A, const float* B, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] + 0 * B[i];
}
