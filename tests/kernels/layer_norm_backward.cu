// SPDX-License-Identifier: Apache-2.0
// Gradients of layer norm: of the input by rows, of the weight and bias by floating atomics.
//@ size    N = 64, M = 256
//@ check   N = 7, M = 96
//@ input   X: float32[N, M]
//@ input   G: float32[N, M]
//@ input   weight: float32[M]
//@ output  DX: float32[N, M]
//@ output  DW: float32[M]
//@ output  DB: float32[M]
//@ memset  DW = 0
//@ memset  DB = 0
//@ launch  backward<<<N, 32>>>(X, G, weight, DX, DW, DB, M)
__device__ float warp_sum(float v) {
  for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
  return v;
}
__global__ void backward(const float* X, const float* G, const float* weight, float* DX, float* DW, float* DB, int M) {
  const float *x = X + blockIdx.x * M, *g = G + blockIdx.x * M;
  float sum = 0, square = 0;
  for (int i = threadIdx.x; i < M; i += 32) sum += x[i];
  const float mean = warp_sum(sum) / M;
  for (int i = threadIdx.x; i < M; i += 32) square += (x[i] - mean) * (x[i] - mean);
  const float scale = rsqrtf(warp_sum(square) / M + 1e-5f);
  float a = 0, b = 0;
  for (int i = threadIdx.x; i < M; i += 32) {
    const float normal = (x[i] - mean) * scale, d = g[i] * weight[i];
    a += d, b += d * normal;
    atomicAdd(DW + i, g[i] * normal);
    atomicAdd(DB + i, g[i]);
  }
  a = warp_sum(a) / M, b = warp_sum(b) / M;
  for (int i = threadIdx.x; i < M; i += 32) DX[blockIdx.x * M + i] = (g[i] * weight[i] - a - (x[i] - mean) * scale * b) * scale;
}
