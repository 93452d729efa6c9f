// SPDX-License-Identifier: Apache-2.0
//@ task    floored
//@ torch   C = torch.floor(A)
//@ size    N = 4096
//@ check   N = 1001
//@ input   A: float32[N] ~ normal(0, 10)
//@ output  C: float32[N]
//@ launch  k<<<ceil_div(N, 256), 256>>>(A, C, N)
__global__ void k(const float* A, float* C, int N) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) C[i] = floorf(A[i]);
}
