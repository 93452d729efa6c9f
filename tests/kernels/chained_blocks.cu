// SPDX-License-Identifier: Apache-2.0
// A recurrence in chunks: every block waits until the one before has published its last value.
//@ torch   Y = torch.cummax(X, dim=0)[0]
//@ size    N = 1024
//@ check   N = 500
//@ input   X: float32[N]
//@ output  Y: float32[N]
//@ scratch F: int32[N / 64 + 2] = 0
//@ launch  running<<<ceil_div(N, 64), 64>>>(X, Y, F, N)
#include <math.h>
__global__ void running(const float* X, float* Y, int* F, int N) {
  __shared__ float s[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  s[threadIdx.x] = i < N ? X[i] : -INFINITY;
  __syncthreads();
  if (threadIdx.x == 0) {
    float most = -INFINITY;
    if (blockIdx.x > 0) {
      while (atomicAdd(F + blockIdx.x, 0) == 0) {}
      __threadfence();
      most = *(volatile float*)(Y + blockIdx.x * 64 - 1);
    }
    for (int k = 0; k < 64 && blockIdx.x * 64 + k < N; ++k) *(volatile float*)(Y + blockIdx.x * 64 + k) = most = fmaxf(most, s[k]);
    __threadfence();
    atomicExch(F + blockIdx.x + 1, 1);
  }
}
