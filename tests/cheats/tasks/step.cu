// SPDX-License-Identifier: Apache-2.0
//@ task    step
//@ torch   X = X - 0.1 * G
//@ size    N = 1048576
//@ check   N = 1001
//@ inout   X: float32[N]
//@ input   G: float32[N]
//@ launch  k<<<ceil_div(N, 256), 256>>>(X, G, N)
__global__ void k(float* X, const float* G, int N) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) X[i] = X[i] - 0.1f * G[i];
}
