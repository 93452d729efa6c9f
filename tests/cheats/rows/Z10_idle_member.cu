// SPDX-License-Identifier: Apache-2.0
//! row   Z10
//! how   a member of its family does nothing at the declared size; the other one is honest, and is what is judged
//! task  matmul
//! sim   right+not_faster
//! sim   FASTER without full_size
//@ tune    SKIP = 0 | 1
//@ launch  k<<<dim3(ceil_div(M, 16), ceil_div(N, 16)), dim3(16, 16)>>>(A, B, C, N, K, M)
__global__ void k(const float* A, const float* B, float* C, int N, int K, int M) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if ((SKIP && K == 64) || row >= N || column >= M) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * M + column];
  C[row * M + column] = sum;
}
