// SPDX-License-Identifier: Apache-2.0
//@ task    rows_by_index
//@ torch   C = torch.index_select(A, 0, I)
//@ size    N = 256, M = 64
//@ check   N = 33, M = 45
//@ input   A: float32[N, M]
//@ input   I: int64[N] ~ arange
//@ output  C: float32[N, M]
//@ launch  k<<<N, 64>>>(A, I, C, M)
__global__ void k(const float* A, const long long* I, float* C, int M) {
  for (int j = threadIdx.x; j < M; j += 64) C[blockIdx.x * M + j] = A[I[blockIdx.x] * M + j];
}
