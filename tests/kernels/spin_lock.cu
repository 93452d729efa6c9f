// SPDX-License-Identifier: Apache-2.0
// A lock that the lanes of a warp take one after the other: they make progress independently of each other since Volta.
//@ torch   Y = X * 3
//@ size    N = 512
//@ check   N = 77
//@ input   X: float32[N]
//@ output  Y: float32[N]
//@ scratch L: int32[1] = 0
//@ launch  locked<<<ceil_div(N, 128), 128>>>(X, Y, L, N)
__global__ void locked(const float* X, float* Y, int* L, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  while (atomicCAS(L, 0, 1) != 0) {}
  Y[i] = 3 * X[i];
  __threadfence();
  atomicExch(L, 0);
}
