// SPDX-License-Identifier: Apache-2.0
//! row   V11
//! how   products of three float16 parts, as accurate as float32, with one scale for a whole matrix: small rows lose their bits
//! task  matmul
//! all   WRONG_RESULT
//! all   right without patterns influence slices
//@ scratch S: float32[2]
//@ launch  scales<<<2, 1>>>(A, B, S, N * K, K * M)
//@ launch  k<<<dim3(ceil_div(M, 16), ceil_div(N, 16)), dim3(16, 16)>>>(A, B, C, S, N, K, M)
#include <cuda_fp16.h>
__global__ void scales(const float* A, const float* B, float* S, int a, int b) {
  const float* from = blockIdx.x == 0 ? A : B;
  float largest = 1e-30f;
  for (int i = 0; i < (blockIdx.x == 0 ? a : b); ++i) largest = fmaxf(largest, fabsf(from[i]));
  S[blockIdx.x] = exp2f(ceilf(log2f(largest)) - 10);
}
__device__ float part(float value) { return __half2float(__float2half_rn(value)); }
__global__ void k(const float* A, const float* B, float* C, const float* S, int N, int K, int M) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= N || column >= M) return;
  float sum = 0, rest = 0;
  for (int k = 0; k < K; ++k) {
    float a = A[row * K + k] / S[0], b = B[k * M + column] / S[1];
    float high = part(a), low = part(a - high), other = part(b), lower = part(b - other);
    sum += high * other, rest += high * lower + low * other;
  }
  C[row * M + column] = (sum + rest) * (S[0] * S[1]);
}
