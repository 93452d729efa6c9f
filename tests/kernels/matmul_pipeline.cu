// SPDX-License-Identifier: Apache-2.0
// The pipeline primitives of the toolkit instead of assembly.
//@ torch   C = A @ B
//@ size    N = 64, K = 64, M = 64
//@ check   N = 32, K = 48, M = 32
//@ input   A: float32[N, K]
//@ input   B: float32[K, M]
//@ output  C: float32[N, M]
//@ launch  matmul<<<dim3(M / 16, N / 16), dim3(16, 16)>>>(A, B, C, K, M)
#include <cuda_pipeline.h>
__global__ void matmul(const float* A, const float* B, float* C, int K, int M) {
  __shared__ float a[2][16][16], b[2][16][16];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  __pipeline_memcpy_async(&a[0][y][x], &A[row * K + x], 4);
  __pipeline_memcpy_async(&b[0][y][x], &B[y * M + column], 4);
  __pipeline_commit();
  for (int k = 0, now = 0; k < K; k += 16, now ^= 1) {
    if (k + 16 < K) {
      __pipeline_memcpy_async(&a[now ^ 1][y][x], &A[row * K + k + 16 + x], 4);
      __pipeline_memcpy_async(&b[now ^ 1][y][x], &B[(k + 16 + y) * M + column], 4);
    }
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += a[now][y][i] * b[now][i][x];
    __syncthreads();
  }
  C[row * M + column] = sum;
}
