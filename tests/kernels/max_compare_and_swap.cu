// SPDX-License-Identifier: Apache-2.0
// The largest absolute value with a compare-and-swap loop on floats.
//@ torch   Y = X.abs().max()
//@ size    N = 100000
//@ check   N = 3001
//@ input   X: float32[N]
//@ output  Y: float32
//@ memset  Y = 0
//@ launch  largest<<<8, 128>>>(X, Y, N)
__device__ float atomic_max(float* at, float value) {
  int* bits = reinterpret_cast<int*>(at);
  int old = *bits;
  while (__int_as_float(old) < value) {
    const int assumed = old;
    old = atomicCAS(bits, assumed, __float_as_int(value));
    if (old == assumed) break;
  }
  return __int_as_float(old);
}
__global__ void largest(const float* X, float* Y, int N) {
  float most = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) most = fmaxf(most, fabsf(X[i]));
  for (int offset = 16; offset; offset >>= 1) most = fmaxf(most, __shfl_xor_sync(~0u, most, offset));
  if (threadIdx.x % 32 == 0) atomic_max(Y, most);
}
