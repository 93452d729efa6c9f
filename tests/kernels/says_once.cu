// SPDX-License-Identifier: Apache-2.0
// printf from one thread, its text goes to standard error, and an assertion that holds.
//@ torch   Y = X * 2
//@ size    N = 64
//@ check   N = 40
//@ input   X: float32[N]
//@ output  Y: float32[N]
//@ launch  twice<<<1, 64>>>(X, Y, N)
#include <assert.h>
#include <stdio.h>
__global__ void twice(const float* X, float* Y, int N) {
  assert(blockDim.x == 64);
  if (threadIdx.x == 0) printf("%d elements, %.1f times\n", N, 2.0);
  if (threadIdx.x < N) Y[threadIdx.x] = 2 * X[threadIdx.x];
}
