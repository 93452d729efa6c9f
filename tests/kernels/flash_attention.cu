// SPDX-License-Identifier: Apache-2.0
// Attention in one pass over the keys, tile by tile, with a running maximum and sum.
//@ torch   O = torch.softmax(Q @ K.transpose(-2, -1) * 0.25, dim=-1) @ V
//@ size    T = 64, D = 16
//@ check   T = 45, D = 16
//@ input   Q: float32[T, D]
//@ input   K: float32[T, D]
//@ input   V: float32[T, D]
//@ output  O: float32[T, D]
//@ launch  attention<16, 32><<<ceil_div(T, 32), 32>>>(Q, K, V, O, T)
#include <math.h>
template <int D, int TILE>
__global__ void attention(const float* Q, const float* K, const float* V, float* O, int T) {
  __shared__ float keys[TILE][D], values[TILE][D];
  const int row = blockIdx.x * TILE + threadIdx.x;
  float q[D], out[D], most = -INFINITY, sum = 0;
#pragma unroll
  for (int d = 0; d < D; ++d) q[d] = row < T ? Q[row * D + d] * 0.25f : 0, out[d] = 0;
  for (int start = 0; start < T; start += TILE) {
    const int key = start + threadIdx.x;
    for (int d = 0; d < D; ++d) keys[threadIdx.x][d] = key < T ? K[key * D + d] : 0, values[threadIdx.x][d] = key < T ? V[key * D + d] : 0;
    __syncthreads();
    for (int k = 0; k < min(TILE, T - start); ++k) {
      float score = 0;
#pragma unroll
      for (int d = 0; d < D; ++d) score += q[d] * keys[k][d];
      const float next = fmaxf(most, score), old = __expf(most - next), weight = __expf(score - next);
      sum = sum * old + weight;
#pragma unroll
      for (int d = 0; d < D; ++d) out[d] = out[d] * old + weight * values[k][d];
      most = next;
    }
    __syncthreads();
  }
  if (row < T)
    for (int d = 0; d < D; ++d) O[row * D + d] = out[d] / sum;
}
