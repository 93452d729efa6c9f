// SPDX-License-Identifier: Apache-2.0
// The four largest of each row: every lane keeps its own four in registers, then the warp draws the best four times.
//@ torch   V, I = torch.topk(X, 4, dim=1)
//@ size    N = 64, M = 1000
//@ check   N = 5, M = 200
//@ input   X: float32[N, M]
//@ output  V: float32[N, 4]
//@ output  I: int64[N, 4]
//@ launch  topk<<<N, 32>>>(X, V, I, M)
#include <math.h>
__global__ void topk(const float* X, float* V, long long* I, int M) {
  constexpr int K = 4;
  float value[K];
  int place[K];
#pragma unroll
  for (int k = 0; k < K; ++k) value[k] = -INFINITY, place[k] = 1 << 30;
  for (int i = threadIdx.x; i < M; i += 32) {
    float v = X[blockIdx.x * M + i];
    int at = i;
#pragma unroll
    for (int k = 0; k < K; ++k)
      if (v > value[k]) {
        const float v2 = value[k];
        const int at2 = place[k];
        value[k] = v, place[k] = at, v = v2, at = at2;
      }
  }
  for (int k = 0; k < K; ++k) {
    float best = value[0];
    int at = place[0];
    for (int offset = 16; offset; offset /= 2) {
      const float v = __shfl_xor_sync(~0u, best, offset);
      const int p = __shfl_xor_sync(~0u, at, offset);
      if (v > best || (v == best && p < at)) best = v, at = p;
    }
    if (at == place[0]) {
#pragma unroll
      for (int j = 0; j + 1 < K; ++j) value[j] = value[j + 1], place[j] = place[j + 1];
      value[K - 1] = -INFINITY, place[K - 1] = 1 << 30;
    }
    if (threadIdx.x == 0) V[blockIdx.x * K + k] = best, I[blockIdx.x * K + k] = at;
  }
}
