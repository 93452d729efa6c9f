// SPDX-License-Identifier: Apache-2.0
// A five-point stencil: block shapes, a march down the columns, a tile in shared memory.
//@ size    N = 4096
//@ check   N = 256
//@ input   A: float32[N, N]
//@ output  C: float32[N, N]
//@ tune    FORM = 0 | 1 | 2
//@ tune    X = 8 | 32 | 128
//@ launch  stencil<<<dim3(N / X, N / (FORM == 1 ? 256 / X * 8 : 256 / X)), dim3(X, 256 / X)>>>(A, C, N)

__device__ float at(const float* A, int y, int x, int N) { return y >= 0 && x >= 0 && y < N && x < N ? A[y * N + x] : 0.0f; }

__global__ void stencil(const float* A, float* C, int N) {
  constexpr int Y = 256 / X;
  int x = blockIdx.x * X + threadIdx.x;
  if constexpr (FORM == 0) {
    int y = blockIdx.y * Y + threadIdx.y;
    C[y * N + x] = 0.25f * (at(A, y - 1, x, N) + at(A, y + 1, x, N) + at(A, y, x - 1, N) + at(A, y, x + 1, N)) - A[y * N + x];
  } else if constexpr (FORM == 1) {
    int y = (blockIdx.y * Y + threadIdx.y) * 8;
    float above = at(A, y - 1, x, N), here = A[y * N + x];
#pragma unroll
    for (int r = 0; r < 8; ++r, ++y) {
      float below = at(A, y + 1, x, N);
      C[y * N + x] = 0.25f * (above + below + at(A, y, x - 1, N) + at(A, y, x + 1, N)) - here;
      above = here, here = below;
    }
  } else {
    __shared__ float tile[Y + 2][X + 2];
    int y0 = blockIdx.y * Y, x0 = blockIdx.x * X, tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    for (int i = threadIdx.y * X + threadIdx.x; i < (Y + 2) * (X + 2); i += 256)
      tile[i / (X + 2)][i % (X + 2)] = at(A, y0 + i / (X + 2) - 1, x0 + i % (X + 2) - 1, N);
    __syncthreads();
    C[(y0 + ty - 1) * N + x] = 0.25f * (tile[ty - 1][tx] + tile[ty + 1][tx] + tile[ty][tx - 1] + tile[ty][tx + 1]) - tile[ty][tx];
  }
}
