// SPDX-License-Identifier: Apache-2.0
// Rows gathered by 64-bit indices.
//@ torch   Y = F.embedding(I, W)
//@ size    N = 64, V = 100, D = 32
//@ check   N = 21, V = 50, D = 24
//@ input   I: int64[N] ~ randint(0, 50)
//@ input   W: float32[V, D]
//@ output  Y: float32[N, D]
//@ launch  gather<<<N, 32>>>(I, W, Y, D)
__global__ void gather(const long long* I, const float* W, float* Y, int D) {
  const float* from = W + I[blockIdx.x] * D;
  for (int d = threadIdx.x; d < D; d += blockDim.x) Y[size_t(blockIdx.x) * D + d] = __ldg(from + d);
}
