// SPDX-License-Identifier: Apache-2.0
// A depthwise 5 x 5 convolution: block shapes, several rows per thread, the tile in shared memory.
//@ size    P = 1024, S = 112
//@ check   P = 3, S = 32
//@ input   A: float32[P, S, S]
//@ input   W: float32[P, 25]
//@ output  C: float32[P, S, S]
//@ tune    X = 8 | 16 | 32
//@ tune    ROWS = 1 | 4
//@ tune    SHARED = 0 | 1
//@ launch  depthwise<<<dim3(ceil_div(S, X), ceil_div(S, 256 / X * ROWS), P), dim3(X, 256 / X)>>>(A, W, C, S)

__global__ void depthwise(const float* A, const float* W, float* C, int S) {
  constexpr int Y = 256 / X, height = Y * ROWS + 4, width = X + 4;
  __shared__ float tile[SHARED ? height : 1][SHARED ? width : 1];
  const float* a = A + blockIdx.z * S * S;
  const float* w = W + blockIdx.z * 25;
  int x0 = blockIdx.x * X, y0 = blockIdx.y * Y * ROWS, x = x0 + threadIdx.x;
  if (SHARED) {
    for (int i = threadIdx.y * X + threadIdx.x; i < height * width; i += 256) {
      int ty = y0 + i / width - 2, tx = x0 + i % width - 2;
      tile[i / width][i % width] = tx >= 0 && ty >= 0 && tx < S && ty < S ? a[ty * S + tx] : 0.0f;
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    int line = threadIdx.y + r * Y, y = y0 + line;
    float sum = 0;
#pragma unroll
    for (int dy = 0; dy < 5; ++dy)
#pragma unroll
      for (int dx = 0; dx < 5; ++dx) {
        float v;
        if (SHARED) {
          v = tile[line + dy][threadIdx.x + dx];
        } else {
          int tx = x + dx - 2, ty = y + dy - 2;
          v = tx >= 0 && ty >= 0 && tx < S && ty < S ? a[ty * S + tx] : 0.0f;
        }
        sum += v * w[dy * 5 + dx];
      }
    if (x < S && y < S) C[(blockIdx.z * S + y) * S + x] = sum;
  }
}
