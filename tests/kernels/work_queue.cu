// SPDX-License-Identifier: Apache-2.0
// Persistent blocks that draw rows from a counter.
//@ torch   Y = X.max(dim=1)[0]
//@ size    N = 64, M = 100
//@ check   N = 23, M = 61
//@ input   X: float32[N, M]
//@ output  Y: float32[N]
//@ scratch Q: int32[1] = 0
//@ launch  rows<<<3, 64>>>(X, Y, Q, N, M)
#include <math.h>
__global__ void rows(const float* X, float* Y, int* Q, int N, int M) {
  __shared__ int row;
  __shared__ float best[2];
  for (;;) {
    if (threadIdx.x == 0) row = atomicAdd(Q, 1);
    __syncthreads();
    if (row >= N) return;
    float most = -INFINITY;
    for (int i = threadIdx.x; i < M; i += 64) most = fmaxf(most, X[row * M + i]);
    for (int o = 16; o; o >>= 1) most = fmaxf(most, __shfl_down_sync(~0u, most, o));
    if (threadIdx.x % 32 == 0) best[threadIdx.x / 32] = most;
    __syncthreads();
    if (threadIdx.x == 0) Y[row] = fmaxf(best[0], best[1]);
    __syncthreads();
  }
}
