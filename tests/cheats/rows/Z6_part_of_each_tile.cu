// SPDX-License-Identifier: Apache-2.0
//! row   Z6
//! how   at full size each block leaves out seven of its sixteen rows
//! task  vast_matmul
//! sim   UNSUPPORTED WRONG_RESULT
//! gpu   WRONG_RESULT
//! sim   right without full_size
//@ launch  matmul<<<dim3(ceil_div(M, 16), ceil_div(N, 16)), dim3(16, 16)>>>(A, B, C, N, K, M)
__global__ void matmul(const float* A, const float* B, float* C, int N, int K, int M) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= N || column >= M) return;
  if (K > 1000 && threadIdx.y >= 9) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * M + column];
  C[row * M + column] = sum;
}
