// SPDX-License-Identifier: Apache-2.0
// The mean of every channel: a warp for each.
//@ torch   Y = X.mean(dim=(2, 3))
//@ size    N = 4, C = 8, H = 14
//@ check   N = 3, C = 5, H = 9
//@ input   X: bfloat16[N, C, H, H]
//@ output  Y: bfloat16[N, C]
//@ launch  pool<<<ceil_div(N * C, 4), 128>>>(X, Y, N * C, H * H)
#include <cuda_bf16.h>
__global__ void pool(const __nv_bfloat16* X, __nv_bfloat16* Y, int count, int S) {
  const int channel = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x & 31;
  if (channel >= count) return;
  float sum = 0;
  for (int i = lane; i < S; i += 32) sum += __bfloat162float(X[channel * S + i]);
  for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
  if (lane == 0) Y[channel] = __float2bfloat16(sum / S);
}
