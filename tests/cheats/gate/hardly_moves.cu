// SPDX-License-Identifier: Apache-2.0
//! row   3
//! how   within its own tolerance the same for all inputs
//! all   TASK_DEGENERATE
//! all   accepted without task_gate
//@ torch   C = 1 + 0.001 * A
//@ size    N = 16384
//@ check   N = 4096
//@ input   A: float32[N] ~ uniform(0, 1)
//@ output  C: float32[N]
//@ tolerance = 1e-2
//@ launch  k<<<ceil_div(N, 256), 256>>>(A, C, N)
__global__ void k(const float* A, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = 1 + 0.001f * A[i];
}
