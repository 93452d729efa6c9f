// SPDX-License-Identifier: Apache-2.0
// The transpose of a matrix: one thread per element.
//@ task    transpose
//@ torch   Y = X.T
//@ size    N = 4096, M = 4096
//@ check   N = 33, M = 70
//@ input   X: float32[N, M]
//@ output  Y: float32[M, N]
//@ launch  transpose<<<dim3(ceil_div(M, 16), ceil_div(N, 16)), dim3(16, 16)>>>(X, Y, N, M)

__global__ void transpose(const float* X, float* Y, int N, int M) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < N && column < M) Y[size_t(column) * N + row] = X[size_t(row) * M + column];
}
