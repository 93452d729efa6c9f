// SPDX-License-Identifier: Apache-2.0
// Much arithmetic per element: exact or fast functions, and occupancy cut by shared memory that nothing needs.
//@ size    N = 4194304
//@ check   N = 4096
//@ input   A: float32[N] ~ uniform(0.1, 1)
//@ output  C: float32[N]
//@ tune    FAST = 0 | 1
//@ tune    BLOCK = 64 | 256
//@ tune    KIB = 0 | 48 | 200
//@ launch  heavy_pointwise<<<N / BLOCK, BLOCK, KIB * 1024>>>(A, C)

__global__ void heavy_pointwise(const float* A, float* C) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  float v = A[i];
#pragma unroll 1
  for (int k = 0; k < 8; ++k) {
    if (FAST) v = __fdividef(__expf(-v) + __sinf(v), 1.0f + v * v) + __logf(1.5f + v);
    else v = (expf(-v) + sinf(v)) / (1.0f + v * v) + logf(1.5f + v);
  }
  C[i] = v;
}
