// SPDX-License-Identifier: Apache-2.0
//! row   4.2
//! how   a product of TF32 operands split in two, three terms
//! task  matmul
//! all   right
//@ launch  k<<<dim3(ceil_div(M, 16), ceil_div(N, 16)), dim3(16, 16)>>>(A, B, C, N, K, M)
__device__ float narrow(float x) { return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u); }
__global__ void k(const float* A, const float* B, float* C, int N, int K, int M) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= N || column >= M) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) {
    float a = A[row * K + k], b = B[k * M + column];
    float a_high = narrow(a), b_high = narrow(b), a_low = narrow(a - a_high), b_low = narrow(b - b_high);
    sum += a_low * b_high;
    sum += a_high * b_low;
    sum += a_high * b_high;
  }
  C[row * M + column] = sum;
}
