// SPDX-License-Identifier: Apache-2.0
//! row   Z16
//! how   at full size half of each sum is left out, and a second launch does nothing, so that the plan has two
//! task  vast_matmul
//! sim   WRONG_RESULT
//! gpu   WRONG_RESULT
//! sim   right without full_size
//@ launch  matmul<<<dim3(ceil_div(M, 16), ceil_div(N, 16)), dim3(16, 16)>>>(A, B, C, N, K, M)
//@ launch  nothing<<<1, 32>>>(A)
__global__ void matmul(const float* A, const float* B, float* C, int N, int K, int M) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= N || column >= M) return;
  float sum = 0;
  for (int k = 0; k < (K > 1000 ? K / 2 : K); ++k) sum += A[row * K + k] * B[k * M + column];
  C[row * M + column] = sum;
}
__global__ void nothing(const float* A) {}
