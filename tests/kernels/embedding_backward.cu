// SPDX-License-Identifier: Apache-2.0
// Rows scattered with floating atomics.
//@ size    N = 64, V = 20, D = 32
//@ check   N = 50, V = 10, D = 24
//@ input   I: int64[N] ~ randint(0, 10)
//@ input   G: float32[N, D]
//@ output  W: float32[V, D]
//@ memset  W = 0
//@ launch  scatter<<<N, 32>>>(I, G, W, D)
__global__ void scatter(const long long* I, const float* G, float* W, int D) {
  for (int d = threadIdx.x; d < D; d += blockDim.x) atomicAdd(&W[I[blockIdx.x] * D + d], G[blockIdx.x * D + d]);
}
