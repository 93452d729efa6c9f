// SPDX-License-Identifier: Apache-2.0
//! sim N=64,M=256
//@ task    scale_rows
//@ torch   C = 2 * A
//@ size    N = 1024, M = 1024
//@ check   N = 33, M = 70
//@ input   A: float32[N, M]
//@ output  C: float32[N, M]
//@ launch  rows<<<N, 256>>>(A, C, M)
__global__ void rows(const float* A, float* C, int M) {
  for (int column = threadIdx.x; column < M; column += 256) C[blockIdx.x * M + column] = 2 * A[blockIdx.x * M + column];
}
