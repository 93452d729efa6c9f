// SPDX-License-Identifier: Apache-2.0
// RMS norm of bfloat16 pairs with float sums.
//@ torch   Y = F.rms_norm(X, (M,), weight, 1e-6)
//@ size    N = 64, M = 1024
//@ check   N = 5, M = 192
//@ input   X: bfloat16[N, M]
//@ input   weight: bfloat16[M]
//@ output  Y: bfloat16[N, M]
//@ launch  normalise<<<N, 32>>>(X, weight, Y, M / 2)
#include <cuda_bf16.h>
__global__ void normalise(const __nv_bfloat162* X, const __nv_bfloat162* weight, __nv_bfloat162* Y, int M2) {
  float sum = 0;
  for (int i = threadIdx.x; i < M2; i += 32) {
    const float2 v = __bfloat1622float2(X[blockIdx.x * M2 + i]);
    sum += v.x * v.x + v.y * v.y;
  }
  for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
  const float scale = rsqrtf(sum / (2 * M2) + 1e-6f);
  for (int i = threadIdx.x; i < M2; i += 32) {
    const float2 v = __bfloat1622float2(X[blockIdx.x * M2 + i]), w = __bfloat1622float2(weight[i]);
    Y[blockIdx.x * M2 + i] = __floats2bfloat162_rn(v.x * scale * w.x, v.y * scale * w.y);
  }
}
