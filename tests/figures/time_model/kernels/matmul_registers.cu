// SPDX-License-Identifier: Apache-2.0
// A matrix product with a tile of results per thread: tile sizes, depth of a step, and unrolling.
//@ size    N = 2048
//@ check   N = 256
//@ input   A: float32[N, N]
//@ input   B: float32[N, N]
//@ output  C: float32[N, N]
//@ tune    TILE = 32 | 64 | 128
//@ tune    PER = 2 | 4 | 8 if TILE / PER >= 8 && TILE / PER <= 32
//@ tune    DEPTH = 8 | 32
//@ launch  matmul_registers<<<dim3(N / TILE, N / TILE), dim3(TILE / PER, TILE / PER)>>>(A, B, C, N)

__global__ void matmul_registers(const float* A, const float* B, float* C, int N) {
  constexpr int side = TILE / PER, threads = side * side;
  __shared__ float a[DEPTH][TILE + 1], b[DEPTH][TILE];
  int tx = threadIdx.x, ty = threadIdx.y, t = ty * side + tx, row = blockIdx.y * TILE, column = blockIdx.x * TILE;
  float sum[PER][PER] = {};
  for (int start = 0; start < N; start += DEPTH) {
    for (int i = t; i < TILE * DEPTH; i += threads) {
      a[i % DEPTH][i / DEPTH] = A[(row + i / DEPTH) * N + start + i % DEPTH];
      b[i / TILE][i % TILE] = B[(start + i / TILE) * N + column + i % TILE];
    }
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < DEPTH; ++k) {
      float x[PER], y[PER];
#pragma unroll
      for (int i = 0; i < PER; ++i) x[i] = a[k][ty * PER + i], y[i] = b[k][tx + i * side];
#pragma unroll
      for (int i = 0; i < PER; ++i)
#pragma unroll
        for (int j = 0; j < PER; ++j) sum[i][j] += x[i] * y[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < PER; ++i)
#pragma unroll
    for (int j = 0; j < PER; ++j) C[(row + ty * PER + i) * N + column + tx + j * side] = sum[i][j];
}
