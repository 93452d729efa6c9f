// SPDX-License-Identifier: Apache-2.0
// Several elements per thread: neighbours of the thread (FORM 0) or of the block (FORM 1).
//@ size    N = 16777216
//@ check   N = 16384
//@ input   A: float32[N]
//@ output  C: float32[N]
//@ tune    FORM = 0 | 1
//@ tune    ITEMS = 2 | 4 | 8 | 32
//@ launch  strided_copy<<<ceil_div(N, 256 * ITEMS), 256>>>(A, C, N)

__global__ void strided_copy(const float* A, float* C, int N) {
  int first = blockIdx.x * 256 * ITEMS;
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    int i = FORM == 0 ? first + threadIdx.x * ITEMS + k : first + k * 256 + threadIdx.x;
    if (i < N) C[i] = 2.0f * A[i];
  }
}
