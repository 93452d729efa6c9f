// SPDX-License-Identifier: Apache-2.0
//! row   3
//! how   the logarithm of negative numbers
//! all   TASK_BROKEN
//! all   accepted without task_gate
//@ torch   C = torch.log(A)
//@ size    N = 16384
//@ check   N = 4096
//@ input   A: float32[N]
//@ output  C: float32[N]
//@ launch  k<<<ceil_div(N, 256), 256>>>(A, C, N)
__global__ void k(const float* A, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = logf(A[i]);
}
