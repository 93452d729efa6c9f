// SPDX-License-Identifier: Apache-2.0
// Products of many 32 x 32 matrices: a thread per result from global (0) or shared memory (1), a column per thread (2); matrices per block.
//@ size    B = 8192
//@ check   B = 16
//@ input   X: float32[B, 32, 32]
//@ input   Y: float32[B, 32, 32]
//@ output  Z: float32[B, 32, 32]
//@ tune    FORM = 0 | 1 | 2
//@ tune    PER = 1 | 4
//@ tune    ROWS = 8 | 32 if FORM != 2 || ROWS == 8
//@ launch  small_matmuls<<<B / PER, FORM == 2 ? 32 * PER : 32 * ROWS>>>(X, Y, Z)

__global__ void small_matmuls(const float* X, const float* Y, float* Z) {
  int lane = threadIdx.x % 32, line = threadIdx.x / 32;
  if constexpr (FORM == 2) {
    int at = (blockIdx.x * PER + line) * 1024;
    float column[32];
#pragma unroll
    for (int k = 0; k < 32; ++k) column[k] = Y[at + k * 32 + lane];
    for (int r = 0; r < 32; ++r) {
      float x = X[at + r * 32 + lane], sum = 0;
#pragma unroll
      for (int k = 0; k < 32; ++k) sum += __shfl_sync(0xffffffff, x, k) * column[k];
      Z[at + r * 32 + lane] = sum;
    }
  } else {
    __shared__ float x[32][32], y[32][32];
    for (int m = 0; m < PER; ++m) {
      int at = (blockIdx.x * PER + m) * 1024;
      if (FORM == 1) {
        __syncthreads();
        for (int r = line; r < 32; r += ROWS) x[r][lane] = X[at + r * 32 + lane], y[r][lane] = Y[at + r * 32 + lane];
        __syncthreads();
      }
      for (int r = line; r < 32; r += ROWS) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k < 32; ++k) sum += FORM == 1 ? x[r][k] * y[k][lane] : X[at + r * 32 + k] * Y[at + k * 32 + lane];
        Z[at + r * 32 + lane] = sum;
      }
    }
  }
}
