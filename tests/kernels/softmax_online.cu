// SPDX-License-Identifier: Apache-2.0
// Softmax with the running maximum and sum in one pass.
//@ torch   Y = torch.softmax(X, dim=1)
//@ size    N = 64, M = 1000
//@ check   N = 7, M = 301
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  softmax<<<N, 128>>>(X, Y, M)
#include <math.h>
__global__ void softmax(const float* X, float* Y, int M) {
  __shared__ float maxima[4], sums[4];
  const float* x = X + size_t(blockIdx.x) * M;
  float most = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < M; i += 128) {
    const float v = x[i], next = fmaxf(most, v);
    sum = sum * __expf(most - next) + __expf(v - next);
    most = next;
  }
  for (int offset = 16; offset; offset >>= 1) {
    const float m = __shfl_xor_sync(~0u, most, offset), s = __shfl_xor_sync(~0u, sum, offset), next = fmaxf(most, m);
    sum = sum * __expf(most - next) + s * __expf(m - next);
    most = next;
  }
  if (threadIdx.x % 32 == 0) maxima[threadIdx.x / 32] = most, sums[threadIdx.x / 32] = sum;
  __syncthreads();
  most = -INFINITY;
  for (int w = 0; w < 4; ++w) most = fmaxf(most, maxima[w]);
  sum = 0;
  for (int w = 0; w < 4; ++w) sum += sums[w] * __expf(maxima[w] - most);
  const float inverse = 1 / sum;
  for (int i = threadIdx.x; i < M; i += 128) Y[size_t(blockIdx.x) * M + i] = expf(x[i] - most) * inverse;
}
