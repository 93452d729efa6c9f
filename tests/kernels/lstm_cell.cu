// SPDX-License-Identifier: Apache-2.0
// The element-wise part of an LSTM with sigmoids and hyperbolic tangents.
//@ size    N = 8, H = 32
//@ check   N = 3, H = 25
//@ input   G: float32[N, 4 * H]
//@ inout   C: float32[N, H]
//@ output  Y: float32[N, H]
//@ launch  cell<<<ceil_div(N * H, 64), 64>>>(G, C, Y, N * H, H)
__device__ __noinline__ float sigmoid(float x) { return 1.0f / (1.0f + __expf(-x)); }
__global__ void cell(const float* G, float* C, float* Y, int count, int H) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float* g = G + i / H * 4 * H + i % H;
  const float c = sigmoid(g[H]) * C[i] + sigmoid(g[0]) * tanhf(g[2 * H]);
  C[i] = c;
  Y[i] = sigmoid(g[3 * H]) * tanhf(c);
}
