// SPDX-License-Identifier: Apache-2.0
//! row   M6
//! how   a tiled product without the barrier behind its loads
//! task  matmul
//! judge final
//! sim   SANITIZER_FAILED
//! gpu   SANITIZER_FAILED WRONG_RESULT
//@ launch  k<<<dim3(ceil_div(M, 16), ceil_div(N, 16)), dim3(16, 16)>>>(A, B, C, N, K, M)
__global__ void k(const float* A, const float* B, float* C, int N, int K, int M) {
  __shared__ float a[16][17], b[16][17];
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int k0 = 0; k0 < K; k0 += 16) {
    a[threadIdx.y][threadIdx.x] = row < N && k0 + threadIdx.x < K ? A[row * K + k0 + threadIdx.x] : 0;
    b[threadIdx.y][threadIdx.x] = column < M && k0 + threadIdx.y < K ? B[(k0 + threadIdx.y) * M + column] : 0;
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
  }
  if (row < N && column < M) C[row * M + column] = sum;
}
