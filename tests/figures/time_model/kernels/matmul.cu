// SPDX-License-Identifier: Apache-2.0
// A matrix product, one result per thread: rows or columns along the warp, block shapes, tiles in shared memory.
//@ size    N = 1024
//@ check   N = 64
//@ input   A: float32[N, N]
//@ input   B: float32[N, N]
//@ output  C: float32[N, N]
//@ tune    FORM = 0 | 1 | 2
//@ tune    X = 8 | 16 | 32
//@ tune    Y = 8 | 16 | 32 if FORM != 2 || X == Y
//@ launch  matmul<<<dim3(N / X, N / Y), dim3(X, Y)>>>(A, B, C, N)

__global__ void matmul(const float* A, const float* B, float* C, int N) {
  int column = blockIdx.x * X + threadIdx.x, row = blockIdx.y * Y + threadIdx.y;
  float sum = 0;
  if constexpr (FORM == 0) {
    for (int k = 0; k < N; ++k) sum += A[row * N + k] * B[k * N + column];
    C[row * N + column] = sum;
  } else if constexpr (FORM == 1) {
    for (int k = 0; k < N; ++k) sum += A[column * N + k] * B[k * N + row];
    C[column * N + row] = sum;
  } else {
    __shared__ float a[X][X], b[X][X];
    for (int start = 0; start < N; start += X) {
      a[threadIdx.y][threadIdx.x] = A[row * N + start + threadIdx.x];
      b[threadIdx.y][threadIdx.x] = B[(start + threadIdx.y) * N + column];
      __syncthreads();
#pragma unroll
      for (int k = 0; k < X; ++k) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
      __syncthreads();
    }
    C[row * N + column] = sum;
  }
}
