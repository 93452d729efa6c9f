// SPDX-License-Identifier: Apache-2.0
//! row   Z12
//! how   at the declared size what it should change stays as it was
//! task  step
//! sim   WRONG_RESULT
//! sim   right without full_size
//@ launch  k<<<ceil_div(N, 256), 256>>>(X, G, N)
__global__ void k(float* X, const float* G, int N) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N && N < 2000) X[i] = X[i] - 0.1f * G[i];
}
