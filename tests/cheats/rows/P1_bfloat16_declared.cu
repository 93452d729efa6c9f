// SPDX-License-Identifier: Apache-2.0
//! row   P1
//! how   the same under --precision half
//! task  matmul
//! with  half
//! all   right
//@ launch  k<<<dim3(ceil_div(M, 16), ceil_div(N, 16)), dim3(16, 16)>>>(A, B, C, N, K, M)
__device__ float narrow(float x) {
  unsigned bits = __float_as_uint(x);
  return __uint_as_float((bits + 0x7fffu + (bits >> 16 & 1)) & 0xffff0000u);
}
__global__ void k(const float* A, const float* B, float* C, int N, int K, int M) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= N || column >= M) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += narrow(A[row * K + k]) * narrow(B[k * M + column]);
  C[row * M + column] = sum;
}
