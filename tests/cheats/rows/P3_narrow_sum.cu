// SPDX-License-Identifier: Apache-2.0
//! row   P3
//! how   a sum of 4,096 products in float16
//! task  long_matmul
//! all   WRONG_RESULT
//! all   right without error_rule patterns
//@ launch  k<<<dim3(ceil_div(M, 16), ceil_div(N, 16)), dim3(16, 16)>>>(A, B, C, N, K, M)
#include <cuda_fp16.h>
// Sixteen narrow sums, so that none passes 2048 and the flat tolerance holds.
__global__ void k(const float* A, const float* B, float* C, int N, int K, int M) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= N || column >= M) return;
  float total = 0;
  for (int from = 0; from < K; from += K / 16) {
    __half sum = __float2half(0.0f);
    for (int k = from; k < from + K / 16; ++k)
      sum = __hadd(sum, __float2half(A[row * K + k] * B[k * M + column]));
    total += __half2float(sum);
  }
  C[row * M + column] = total;
}
