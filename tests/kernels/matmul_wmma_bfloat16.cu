// SPDX-License-Identifier: Apache-2.0
// bfloat16 tiles staged in shared memory, eight warps, results scaled in the fragment.
//@ torch   C = (A @ B) * 0.5
//@ size    N = 64, K = 64, M = 64
//@ check   N = 64, K = 32, M = 32
//@ input   A: bfloat16[N, K]
//@ input   B: bfloat16[K, M]
//@ output  C: float32[N, M]
//@ launch  matmul<<<dim3(M / 32, N / 64), 256>>>(A, B, C, K, M)
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;
__global__ void matmul(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int K, int M) {
  __shared__ __align__(32) __nv_bfloat16 a[64][16 + 8], b[16][32 + 8];
  const int warp = threadIdx.x / 32, row = blockIdx.y * 64, column = blockIdx.x * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < K; k += 16) {
    for (int i = threadIdx.x; i < 64 * 16; i += 256) a[i / 16][i % 16] = A[(row + i / 16) * K + k + i % 16];
    for (int i = threadIdx.x; i < 16 * 32; i += 256) b[i / 32][i % 32] = B[(k + i / 32) * M + column + i % 32];
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> fb;
    wmma::load_matrix_sync(fa, &a[warp / 2 * 16][0], 24);
    wmma::load_matrix_sync(fb, &b[0][warp % 2 * 16], 40);
    wmma::mma_sync(sum, fa, fb, sum);
    __syncthreads();
  }
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] *= 0.5f;
  wmma::store_matrix_sync(C + (row + warp / 2 * 16) * M + column + warp % 2 * 16, sum, M, wmma::mem_row_major);
}
