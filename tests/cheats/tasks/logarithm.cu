// SPDX-License-Identifier: Apache-2.0
//@ task    logarithm
//@ torch   C = torch.log(A.abs() + 0.5)
//@ size    N = 16384
//@ check   N = 1001
//@ input   A: float32[N]
//@ output  C: float32[N]
//@ launch  logarithm<<<ceil_div(N, 128), 128>>>(A, C, N)
__global__ void logarithm(const float* A, float* C, int N) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < N) C[i] = logf(fabsf(A[i]) + 0.5f);
}
