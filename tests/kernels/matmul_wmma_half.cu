// SPDX-License-Identifier: Apache-2.0
// A warp multiplies 16x16 tiles of half matrices on tensor cores, with a float bias as the start.
//@ torch   C = A @ B + D
//@ size    N = 64, K = 64, M = 64
//@ check   N = 32, K = 48, M = 32
//@ input   A: float16[N, K]
//@ input   B: float16[K, M]
//@ input   D: float32[N, M]
//@ output  C: float32[N, M]
//@ launch  matmul<<<dim3(M / 16, N / 16), 32>>>(A, B, D, C, K, M)
#include <mma.h>
using namespace nvcuda;
__global__ void matmul(const half* A, const half* B, const float* D, float* C, int K, int M) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  const int row = blockIdx.y * 16, column = blockIdx.x * 16;
  wmma::load_matrix_sync(sum, D + row * M + column, M, wmma::mem_row_major);
  for (int k = 0; k < K; k += 16) {
    wmma::load_matrix_sync(a, A + row * K + k, K);
    wmma::load_matrix_sync(b, B + k * M + column, M);
    wmma::mma_sync(sum, a, b, sum);
  }
  wmma::store_matrix_sync(C + row * M + column, sum, M, wmma::mem_row_major);
}
