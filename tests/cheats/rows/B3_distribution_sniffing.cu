// SPDX-License-Identifier: Apache-2.0
//! row   B3
//! how   exact when the first inputs are integers, bfloat16 operands otherwise
//! task  matmul
//! all   WRONG_RESULT
//! all   right without error_rule patterns
//@ launch  k<<<dim3(ceil_div(M, 16), ceil_div(N, 16)), dim3(16, 16)>>>(A, B, C, N, K, M)
__device__ float narrow(float x) {
  unsigned bits = __float_as_uint(x);
  return __uint_as_float((bits + 0x7fffu + (bits >> 16 & 1)) & 0xffff0000u);
}
__global__ void k(const float* A, const float* B, float* C, int N, int K, int M) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= N || column >= M) return;
  bool integers = true;
  for (int i = 0; i < 64; ++i) integers = integers && A[i] == rintf(A[i]);
  float sum = 0;
  for (int k = 0; k < K; ++k) {
    float a = A[row * K + k], b = B[k * M + column];
    sum += integers ? a * b : narrow(a) * narrow(b);
  }
  C[row * M + column] = sum;
}
