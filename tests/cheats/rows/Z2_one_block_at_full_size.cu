// SPDX-License-Identifier: Apache-2.0
//! row   Z2
//! how   its plan launches a single block at the declared size
//! task  wide_matmul
//! all   WRONG_RESULT
//! sim   right without full_size
//@ launch  matmul<<<dim3(N == 384 ? 1 : ceil_div(M, 16), N == 384 ? 1 : ceil_div(N, 16)), dim3(16, 16)>>>(A, B, C, N, K, M)
__global__ void matmul(const float* A, const float* B, float* C, int N, int K, int M) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= N || column >= M) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * M + column];
  C[row * M + column] = sum;
}
