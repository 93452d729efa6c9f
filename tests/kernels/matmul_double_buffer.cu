// SPDX-License-Identifier: Apache-2.0
// Two tiles in turn: the next one is loaded while the current one is used, one barrier a step; each thread owns 4x4 results.
//@ torch   C = A @ B
//@ size    N = 64, K = 64, M = 64
//@ check   N = 64, K = 48, M = 128
//@ input   A: float32[N, K]
//@ input   B: float32[K, M]
//@ output  C: float32[N, M]
//@ launch  matmul<<<dim3(M / 64, N / 64), 256>>>(A, B, C, N, K, M)
__global__ void matmul(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int N, int K, int M) {
  __shared__ float a[2][16][64 + 4];
  __shared__ __align__(16) float b[2][16][64];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16, row = blockIdx.y * 64, column = blockIdx.x * 64;
  float sum[4][4] = {}, left[4];
  const auto load = [&](int buffer, int k) {
    for (int i = 0; i < 4; ++i) {
      const int e = t + 256 * i;
      a[buffer][e % 16][e / 16] = A[(row + e / 16) * K + k + e % 16];
    }
    *reinterpret_cast<float4*>(&b[buffer][ty][4 * tx]) = *reinterpret_cast<const float4*>(&B[(k + ty) * M + column + 4 * tx]);
  };
  load(0, 0);
  __syncthreads();
  for (int k = 0; k < K; k += 16) {
    const int now = k / 16 % 2;
    if (k + 16 < K) load(now ^ 1, k + 16);
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      for (int r = 0; r < 4; ++r) left[r] = a[now][i][4 * ty + r];
      const float4 right = *reinterpret_cast<const float4*>(&b[now][i][4 * tx]);
#pragma unroll
      for (int r = 0; r < 4; ++r)
        sum[r][0] += left[r] * right.x, sum[r][1] += left[r] * right.y, sum[r][2] += left[r] * right.z, sum[r][3] += left[r] * right.w;
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r)
    *reinterpret_cast<float4*>(&C[(row + 4 * ty + r) * M + column + 4 * tx]) = make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
}
