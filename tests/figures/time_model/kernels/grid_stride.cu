// SPDX-License-Identifier: Apache-2.0
// One loop over everything: how many blocks of which size, and elements in flight.
//@ size    N = 16777216
//@ check   N = 65536
//@ input   A: float32[N]
//@ input   B: float32[N]
//@ output  C: float32[N]
//@ tune    BLOCKS = 132 | 528 | 2112
//@ tune    BLOCK = 64 | 256 | 1024 if BLOCKS * BLOCK <= 1048576
//@ tune    UNROLL = 1 | 4
//@ launch  grid_stride<<<BLOCKS, BLOCK>>>(A, B, C, N)

__global__ void grid_stride(const float* A, const float* B, float* C, int N) {
#pragma unroll UNROLL
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N; i += BLOCKS * BLOCK) C[i] = A[i] * 2.0f + B[i];
}
