// SPDX-License-Identifier: Apache-2.0
// Single precision rounded to TF32 for the tensor cores.
//@ torch   C = A @ B
//@ tolerance C: relative 2e-3 absolute 2e-2
//@ size    N = 64, K = 64, M = 64
//@ check   N = 32, K = 40, M = 16
//@ input   A: float32[N, K]
//@ input   B: float32[K, M]
//@ output  C: float32[N, M]
//@ launch  matmul<<<dim3(M / 16, N / 16), 32>>>(A, B, C, K, M)
#include <mma.h>
using namespace nvcuda;
__global__ void matmul(const float* A, const float* B, float* C, int K, int M) {
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < K; k += 8) {
    wmma::load_matrix_sync(a, A + blockIdx.y * 16 * K + k, K);
    wmma::load_matrix_sync(b, B + k * M + blockIdx.x * 16, M);
#pragma unroll
    for (int i = 0; i < a.num_elements; ++i) a.x[i] = wmma::__float_to_tf32(a.x[i]);
#pragma unroll
    for (int i = 0; i < b.num_elements; ++i) b.x[i] = wmma::__float_to_tf32(b.x[i]);
    wmma::mma_sync(sum, a, b, sum);
  }
  wmma::store_matrix_sync(C + blockIdx.y * 16 * M + blockIdx.x * 16, sum, M, wmma::mem_row_major);
}
