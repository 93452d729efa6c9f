// SPDX-License-Identifier: Apache-2.0
// Squared distances between all pairs of points: from global memory (0), points in shared memory (1), several results per thread (2).
//@ size    N = 2048
//@ check   N = 256
//@ input   X: float32[N, 32]
//@ input   Y: float32[N, 32]
//@ output  D: float32[N, N]
//@ tune    FORM = 0 | 1 | 2
//@ tune    W = 16 | 32
//@ tune    SWAP = 0 | 1
//@ launch  distances<<<dim3(N / (W * (FORM == 2 ? 2 : 1)), N / W), dim3(W, W)>>>(X, Y, D, N)

__global__ void distances(const float* X, const float* Y, float* D, int N) {
  constexpr int per = FORM == 2 ? 2 : 1;
  int a = SWAP ? threadIdx.y : threadIdx.x, b = SWAP ? threadIdx.x : threadIdx.y;
  int column = blockIdx.x * W * per + a, row = blockIdx.y * W + b;
  if constexpr (FORM == 0) {
    float sum = 0;
    for (int k = 0; k < 32; ++k) {
      float d = X[row * 32 + k] - Y[column * 32 + k];
      sum += d * d;
    }
    D[row * N + column] = sum;
  } else {
    __shared__ float x[W][33], y[W * per][33];
    for (int i = threadIdx.y * W + threadIdx.x; i < W * 32; i += W * W) x[i / 32][i % 32] = X[blockIdx.y * W * 32 + i];
    for (int i = threadIdx.y * W + threadIdx.x; i < W * per * 32; i += W * W) y[i / 32][i % 32] = Y[blockIdx.x * W * per * 32 + i];
    __syncthreads();
    float sum[per] = {};
#pragma unroll 8
    for (int k = 0; k < 32; ++k)
#pragma unroll
      for (int p = 0; p < per; ++p) {
        float d = x[b][k] - y[a + p * W][k];
        sum[p] += d * d;
      }
#pragma unroll
    for (int p = 0; p < per; ++p) D[row * N + column + p * W] = sum[p];
  }
}
