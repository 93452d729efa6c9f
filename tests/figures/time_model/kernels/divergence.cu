// SPDX-License-Identifier: Apache-2.0
// A number of steps that differs between neighbours (0), between warps (1), or not at all (2).
//@ size    N = 2097152
//@ check   N = 8192
//@ input   A: float32[N] ~ uniform(0, 1)
//@ output  C: float32[N]
//@ tune    FORM = 0 | 1 | 2
//@ tune    STEPS = 8 | 64 | 256
//@ launch  divergence<<<N / 256, 256>>>(A, C)

__global__ void divergence(const float* A, float* C) {
  int i = blockIdx.x * 256 + threadIdx.x;
  int kind = FORM == 0 ? threadIdx.x % 8 : FORM == 1 ? threadIdx.x / 32 % 8 : 4;
  float v = A[i];
#pragma unroll 1
  for (int k = 0; k < STEPS * (kind + 1) / 8; ++k) v = v * v - 0.7f * v + 0.1f;
  C[i] = kind == 4 ? v : kind % 2 ? -v : 2 * v;
}
