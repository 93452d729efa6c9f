// SPDX-License-Identifier: Apache-2.0
// The product of a transposed upper triangle and a strictly lower one: half of the terms, and more, are zero.
//@ task    triangular
//@ torch   C = torch.triu(A, 2).T @ torch.tril(B, -1)
//@ size    N = 2048
//@ check   N = 150
//@ input   A: float32[N, N]
//@ input   B: float32[N, N]
//@ output  C: float32[N, N]
//@ launch  product<<<dim3(ceil_div(N, 16), ceil_div(N, 16)), dim3(16, 16)>>>(A, B, C, N)

__global__ void product(const float* A, const float* B, float* C, int N) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N || column >= N) return;
  float sum = 0;
  for (int k = 0; k < N; ++k) sum += row - k >= 2 && column - k <= -1 ? A[size_t(k) * N + row] * B[size_t(k) * N + column] : 0;
  C[size_t(row) * N + column] = sum;
}
