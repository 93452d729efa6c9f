// SPDX-License-Identifier: Apache-2.0
// Dot products of half rows in half2, summed in float.
//@ torch   Y = (A * B).sum(dim=1)
//@ size    N = 64, M = 1024
//@ check   N = 10, M = 138
//@ input   A: float16[N, M]
//@ input   B: float16[N, M]
//@ output  Y: float16[N]
//@ launch  dot<<<N, 32>>>(A, B, Y, M / 2)
#include <cuda_fp16.h>
__global__ void dot(const __half2* A, const __half2* B, __half* Y, int M2) {
  float sum = 0;
  for (int i = threadIdx.x; i < M2; i += 32) {
    const float2 a = __half22float2(A[blockIdx.x * M2 + i]), b = __half22float2(B[blockIdx.x * M2 + i]);
    sum = fmaf(a.x, b.x, fmaf(a.y, b.y, sum));
  }
  for (int offset = 16; offset; offset >>= 1) sum += __shfl_down_sync(~0u, sum, offset);
  if (threadIdx.x == 0) Y[blockIdx.x] = __float2half(sum);
}
