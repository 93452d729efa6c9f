// SPDX-License-Identifier: Apache-2.0
// Double precision on tensor cores.
//@ torch   C = A @ B
//@ size    N = 64, K = 64, M = 64
//@ check   N = 16, K = 12, M = 24
//@ input   A: float64[N, K]
//@ input   B: float64[K, M]
//@ output  C: float64[N, M]
//@ launch  matmul<<<dim3(M / 8, N / 8), 32>>>(A, B, C, K, M)
#include <mma.h>
using namespace nvcuda;
__global__ void matmul(const double* A, const double* B, double* C, int K, int M) {
  wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum;
  wmma::fill_fragment(sum, 0.0);
  for (int k = 0; k < K; k += 4) {
    wmma::load_matrix_sync(a, A + blockIdx.y * 8 * K + k, K);
    wmma::load_matrix_sync(b, B + k * M + blockIdx.x * 8, M);
    wmma::mma_sync(sum, a, b, sum);
  }
  wmma::store_matrix_sync(C + blockIdx.y * 8 * M + blockIdx.x * 8, sum, M, wmma::mem_row_major);
}
