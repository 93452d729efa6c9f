// SPDX-License-Identifier: Apache-2.0
// A matrix product on tensor cores, float16 in, float32 out: a square of SIDE fragments per warp, from global or shared memory.
//@ size    N = 2048
//@ check   N = 128
//@ input   A: float16[N, N]
//@ input   B: float16[N, N]
//@ output  C: float32[N, N]
//@ tune    SIDE = 1 | 2 | 4
//@ tune    WARPS = 1 | 2
//@ tune    SHARED = 0 | 1
//@ launch  matmul_tensor<<<dim3(N / (16 * SIDE * WARPS), N / (16 * SIDE * WARPS)), 32 * WARPS * WARPS>>>(A, B, C, N)
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

__global__ void matmul_tensor(const __half* A, const __half* B, float* C, int N) {
  constexpr int tile = 16 * SIDE * WARPS, threads = 32 * WARPS * WARPS, pitch = tile + 8;
  int warp = threadIdx.x / 32, row = blockIdx.y * tile, column = blockIdx.x * tile;
  int wr = warp / WARPS * 16 * SIDE, wc = warp % WARPS * 16 * SIDE;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[SIDE][SIDE];
  for (auto& line : sum)
    for (auto& one : line) wmma::fill_fragment(one, 0.0f);
  __shared__ alignas(32) __half a[SHARED ? tile * 24 : 16], b[SHARED ? 16 * pitch : 16];
  for (int k = 0; k < N; k += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x[SIDE];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> y[SIDE];
    if constexpr (SHARED) {
      __syncthreads();
      for (int i = threadIdx.x; i < tile * 8; i += threads)
        *reinterpret_cast<unsigned*>(a + i / 8 * 24 + i % 8 * 2) = *reinterpret_cast<const unsigned*>(A + (row + i / 8) * N + k + i % 8 * 2);
      for (int i = threadIdx.x; i < tile * 8; i += threads)
        *reinterpret_cast<unsigned*>(b + i / (tile / 2) * pitch + i % (tile / 2) * 2) =
            *reinterpret_cast<const unsigned*>(B + (k + i / (tile / 2)) * N + column + i % (tile / 2) * 2);
      __syncthreads();
      for (int i = 0; i < SIDE; ++i) wmma::load_matrix_sync(x[i], a + (wr + 16 * i) * 24, 24);
      for (int i = 0; i < SIDE; ++i) wmma::load_matrix_sync(y[i], b + wc + 16 * i, pitch);
    } else {
      for (int i = 0; i < SIDE; ++i) wmma::load_matrix_sync(x[i], A + (row + wr + 16 * i) * N + k, N);
      for (int i = 0; i < SIDE; ++i) wmma::load_matrix_sync(y[i], B + k * N + column + wc + 16 * i, N);
    }
    for (int i = 0; i < SIDE; ++i)
      for (int j = 0; j < SIDE; ++j) wmma::mma_sync(sum[i][j], x[i], y[j], sum[i][j]);
  }
  for (int i = 0; i < SIDE; ++i)
    for (int j = 0; j < SIDE; ++j)
      wmma::store_matrix_sync(C + (row + wr + 16 * i) * N + column + wc + 16 * j, sum[i][j], N, wmma::mem_row_major);
}
