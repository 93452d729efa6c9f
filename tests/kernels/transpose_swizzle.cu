// SPDX-License-Identifier: Apache-2.0
// A transpose whose tile is free of bank conflicts by exchanging columns instead of padding.
//@ torch   Y = X.t()
//@ size    N = 64, M = 64
//@ check   N = 40, M = 70
//@ input   X: float32[N, M]
//@ output  Y: float32[M, N]
//@ launch  transpose<<<dim3(ceil_div(M, 32), ceil_div(N, 32)), dim3(32, 8)>>>(X, Y, N, M)
__global__ void transpose(const float* X, float* Y, int N, int M) {
  __shared__ float tile[32][32];
  const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32;
  for (int r = threadIdx.y; r < 32; r += 8)
    if (row + r < N && column < M) tile[r][threadIdx.x ^ r] = X[(row + r) * M + column];
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += 8)
    if (blockIdx.x * 32 + r < M && row + threadIdx.x < N) Y[(blockIdx.x * 32 + r) * N + row + threadIdx.x] = tile[threadIdx.x][r ^ threadIdx.x];
}
