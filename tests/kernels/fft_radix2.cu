// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of 128 complex numbers in shared memory.
//@ size    S = 8
//@ check   S = 3
//@ input   X: float32[S, 128, 2]
//@ output  Y: float32[S, 128, 2]
//@ launch  fft<7><<<S, 64>>>(X, Y)
template <int BITS>
__global__ void fft(const float2* X, float2* Y) {
  constexpr int N = 1 << BITS;
  __shared__ float2 v[N];
  const int t = threadIdx.x;
  for (int i = t; i < N; i += N / 2) v[__brev(i) >> (32 - BITS)] = X[blockIdx.x * N + i];
  for (int half = 1; half < N; half *= 2) {
    __syncthreads();
    const int k = t % half, low = t / half * 2 * half + k;
    float s, c;
    sincospif(-float(k) / half, &s, &c);
    const float2 a = v[low], b = v[low + half], turned = {b.x * c - b.y * s, b.x * s + b.y * c};
    v[low] = {a.x + turned.x, a.y + turned.y};
    v[low + half] = {a.x - turned.x, a.y - turned.y};
  }
  __syncthreads();
  for (int i = t; i < N; i += N / 2) Y[blockIdx.x * N + i] = v[i];
}
