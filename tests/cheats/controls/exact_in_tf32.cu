// SPDX-License-Identifier: Apache-2.0
//! row   4.1
//! how   float32 products where TF32 would do
//! task  matmul
//! with  tf32
//! all   right
//@ launch  k<<<dim3(ceil_div(M, 16), ceil_div(N, 16)), dim3(16, 16)>>>(A, B, C, N, K, M)
__global__ void k(const float* A, const float* B, float* C, int N, int K, int M) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= N || column >= M) return;
  float sum = 0;
  for (int k = K - 1; k >= 0; --k) sum = fmaf(A[row * K + k], B[k * M + column], sum);
  C[row * M + column] = sum;
}
