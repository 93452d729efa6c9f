// SPDX-License-Identifier: Apache-2.0
// Dropout by a counter-based hash, so that every device draws the same.
//@ size    N = 2048
//@ check   N = 700
//@ scalar  keep: float32 = 0.8
//@ input   X: float32[N]
//@ output  Y: float32[N]
//@ launch  dropout<<<ceil_div(N, 128), 128>>>(X, Y, keep, N)
__device__ unsigned philox(unsigned counter, unsigned key) {
  unsigned a = counter, b = key;
#pragma unroll
  for (int round = 0; round < 7; ++round) {
    const unsigned high = __umulhi(0xD2511F53u, a), low = 0xD2511F53u * a;
    a = high ^ b ^ key, b = low, key += 0x9E3779B9u;
  }
  return a ^ b;
}
__global__ void dropout(const float* X, float* Y, float keep, int N) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < N) Y[i] = philox(i, 42u) * 2.3283064e-10f < keep ? X[i] / keep : 0.0f;
}
