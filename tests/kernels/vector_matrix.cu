// SPDX-License-Identifier: Apache-2.0
// The transposed product: columns in parallel, rows in chunks, partial sums through shared memory.
//@ torch   Y = X @ A
//@ size    N = 64, M = 256
//@ check   N = 50, M = 70
//@ input   A: float32[N, M]
//@ input   X: float32[N]
//@ output  Y: float32[M]
//@ launch  multiply<<<ceil_div(M, 32), dim3(32, 8)>>>(A, X, Y, N, M)
__global__ void multiply(const float* A, const float* X, float* Y, int N, int M) {
  __shared__ float part[8][33];
  const int column = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  if (column < M)
    for (int row = threadIdx.y; row < N; row += 8) sum += X[row] * A[row * M + column];
  part[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y == 0 && column < M) {
    for (int k = 1; k < 8; ++k) sum += part[k][threadIdx.x];
    Y[column] = sum;
  }
}
