// SPDX-License-Identifier: Apache-2.0
// Reads of shared memory at a stride.
//@ size    N = 1048576
//@ check   N = 4096
//@ input   A: float32[N]
//@ output  C: float32[N]
//@ tune    STRIDE = 1 | 2 | 4 | 8 | 16 | 32 | 33
//@ launch  bank_conflicts<<<N / 256, 256>>>(A, C)

__global__ void bank_conflicts(const float* A, float* C) {
  __shared__ float s[2048];
  int i = blockIdx.x * 256 + threadIdx.x;
  for (int k = 0; k < 8; ++k) s[k * 256 + threadIdx.x] = A[i] + k;
  __syncthreads();
  float sum = 0;
#pragma unroll 8
  for (int k = 0; k < 128; ++k) sum += s[(threadIdx.x * STRIDE + k * 37) & 2047];
  C[i] = sum - 128 * A[i];
}
