// SPDX-License-Identifier: Apache-2.0
//! sim N=4,M=4096
//@ task    row_sum
//@ torch   C = A.sum(dim=1)
//@ size    N = 1024, M = 4096
//@ check   N = 5, M = 4096
//@ input   A: float32[N, M] ~ uniform(0.9, 1.1)
//@ output  C: float32[N]
//@ launch  row_sum<<<ceil_div(N, 32), 32>>>(A, C, N, M)
__global__ void row_sum(const float* A, float* C, int N, int M) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  float sum = 0;
  for (int column = 0; column < M; ++column) sum += A[row * M + column];
  C[row] = sum;
}
