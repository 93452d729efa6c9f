// SPDX-License-Identifier: Apache-2.0
// The inner dimension shared among blocks that add their parts atomically.
//@ torch   C = A @ B
//@ size    N = 64, K = 256, M = 64
//@ check   N = 17, K = 100, M = 20
//@ input   A: float32[N, K]
//@ input   B: float32[K, M]
//@ output  C: float32[N, M]
//@ memset  C = 0
//@ launch  matmul<<<dim3(ceil_div(M, 16), ceil_div(N, 16), 4), dim3(16, 16)>>>(A, B, C, N, K, M)
__global__ void matmul(const float* A, const float* B, float* C, int N, int K, int M) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= N || column >= M) return;
  const int part = (K + gridDim.z - 1) / gridDim.z, from = blockIdx.z * part, to = min(K, from + part);
  float sum = 0;
  for (int k = from; k < to; ++k) sum += A[row * K + k] * B[k * M + column];
  atomicAdd(&C[row * M + column], sum);
}
