// SPDX-License-Identifier: Apache-2.0
// One query against many keys: parts of the keys in parallel, then their results merged by maximum and sum.
//@ torch   O = torch.softmax(Q @ K.transpose(0, 1) * 0.125, dim=-1) @ V
//@ size    T = 512, D = 64
//@ check   T = 200, D = 64
//@ input   Q: float32[1, D]
//@ input   K: float32[T, D]
//@ input   V: float32[T, D]
//@ output  O: float32[1, D]
//@ scratch P: float32[4, D + 2]
//@ launch  parts<<<4, 64>>>(Q, K, V, P, T)
//@ launch  merge<<<1, 64>>>(P, O)
#include <math.h>
__global__ void parts(const float* Q, const float* K, const float* V, float* P, int T) {
  __shared__ float partial[2];
  const int d = threadIdx.x, each = (T + gridDim.x - 1) / gridDim.x;
  float most = -INFINITY, sum = 0, out = 0;
  for (int t = blockIdx.x * each; t < min(T, int(blockIdx.x + 1) * each); ++t) {
    float v = Q[d] * K[t * 64 + d];
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
    if (d % 32 == 0) partial[d / 32] = v;
    __syncthreads();
    const float score = (partial[0] + partial[1]) * 0.125f, next = fmaxf(most, score), old = expf(most - next), weight = expf(score - next);
    __syncthreads();
    sum = sum * old + weight, out = out * old + weight * V[t * 64 + d], most = next;
  }
  float* p = P + blockIdx.x * 66;
  p[d] = out;
  if (d == 0) p[64] = most, p[65] = sum;
}
__global__ void merge(const float* P, float* O) {
  float most = -INFINITY, sum = 0, out = 0;
  for (int b = 0; b < 4; ++b) most = fmaxf(most, P[b * 66 + 64]);
  for (int b = 0; b < 4; ++b) {
    const float scale = expf(P[b * 66 + 64] - most);
    sum += P[b * 66 + 65] * scale, out += P[b * 66 + threadIdx.x] * scale;
  }
  O[threadIdx.x] = out / sum;
}
