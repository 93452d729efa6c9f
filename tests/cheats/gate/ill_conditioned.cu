// SPDX-License-Identifier: Apache-2.0
//! row   3
//! how   one rounding of an input moves the output a hundred times as far: a remark
//! all   TASK_ILL_CONDITIONED
//! all   accepted without task_gate
//@ torch   C = torch.exp(80 * A)
//@ size    N = 16384
//@ check   N = 4096
//@ input   A: float32[N] ~ uniform(0, 1)
//@ output  C: float32[N]
//@ launch  k<<<ceil_div(N, 256), 256>>>(A, C, N)
__global__ void k(const float* A, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = expf(80 * A[i]);
}
