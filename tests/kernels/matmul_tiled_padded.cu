// SPDX-License-Identifier: Apache-2.0
// A matrix product through padded tiles in shared memory.
//@ torch   C = A @ B
//@ size    N = 64, K = 64, M = 64
//@ check   N = 33, K = 50, M = 40
//@ input   A: float32[N, K]
//@ input   B: float32[K, M]
//@ output  C: float32[N, M]
//@ launch  matmul<16><<<dim3(ceil_div(M, 16), ceil_div(N, 16)), dim3(16, 16)>>>(A, B, C, N, K, M)
template <int T>
__global__ void __launch_bounds__(T * T) matmul(const float* A, const float* B, float* C, int N, int K, int M) {
  __shared__ float a[T][T + 1], b[T][T + 1];
  const int row = blockIdx.y * T + threadIdx.y, column = blockIdx.x * T + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < K; k += T) {
    a[threadIdx.y][threadIdx.x] = row < N && k + threadIdx.x < K ? A[row * K + k + threadIdx.x] : 0;
    b[threadIdx.y][threadIdx.x] = column < M && k + threadIdx.y < K ? B[(k + threadIdx.y) * M + column] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < T; ++i) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
    __syncthreads();
  }
  if (row < N && column < M) C[row * M + column] = sum;
}
