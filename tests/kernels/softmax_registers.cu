// SPDX-License-Identifier: Apache-2.0
// A warp per row with the whole row in registers.
//@ torch   Y = torch.softmax(X, dim=-1)
//@ size    N = 64, M = 256
//@ check   N = 9, M = 250
//@ input   X: float16[N, M]
//@ output  Y: float16[N, M]
//@ launch  softmax<8><<<ceil_div(N, 4), 128>>>(X, Y, N, M)
#include <cuda_fp16.h>
template <int PER>
__global__ void softmax(const __half* X, __half* Y, int N, int M) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= N) return;
  float v[PER], most = -1e30f, sum = 0;
#pragma unroll
  for (int k = 0; k < PER; ++k) {
    const int i = k * 32 + lane;
    v[k] = i < M ? __half2float(X[row * M + i]) : -1e30f;
    most = fmaxf(most, v[k]);
  }
#pragma unroll
  for (int mask = 16; mask; mask >>= 1) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, mask));
#pragma unroll
  for (int k = 0; k < PER; ++k) v[k] = exp2f((v[k] - most) * 1.4426950408889634f), sum += v[k];
#pragma unroll
  for (int mask = 16; mask; mask >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
#pragma unroll
  for (int k = 0; k < PER; ++k)
    if (k * 32 + lane < M) Y[row * M + k * 32 + lane] = __float2half_rn(__fdividef(v[k], sum));
}
