// SPDX-License-Identifier: Apache-2.0
// A transposition: coalesced on one side only (0, 1), through shared memory without and with padding (2, 3), four rows per thread.
//@ size    N = 4096
//@ check   N = 192
//@ input   A: float32[N, N]
//@ output  C: float32[N, N]
//@ tune    FORM = 0 | 1 | 2 | 3
//@ tune    ROWS = 32 | 8
//@ launch  transpose<<<dim3(N / 32, N / 32), dim3(32, ROWS)>>>(A, C, N)

__global__ void transpose(const float* A, float* C, int N) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  if constexpr (FORM == 0) {
#pragma unroll
    for (int r = 0; r < 32; r += ROWS) C[x * N + y + r] = A[(y + r) * N + x];
  } else if constexpr (FORM == 1) {
#pragma unroll
    for (int r = 0; r < 32; r += ROWS) C[(y + r) * N + x] = A[x * N + y + r];
  } else {
    __shared__ float tile[32][FORM == 2 ? 32 : 33];
#pragma unroll
    for (int r = 0; r < 32; r += ROWS) tile[threadIdx.y + r][threadIdx.x] = A[(y + r) * N + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
    for (int r = 0; r < 32; r += ROWS) C[(y + r) * N + x] = tile[threadIdx.x][threadIdx.y + r];
  }
}
