// SPDX-License-Identifier: Apache-2.0
// An array per thread: indexed by data, so in local memory (0), or unrolled into registers (1); few registers make it spill.
//@ size    N = 1048576
//@ check   N = 4096
//@ input   A: float32[N]
//@ input   I: int32[64] ~ randint(0, 16)
//@ output  C: float32[N]
//@ tune    FORM = 0 | 1
//@ tune    COUNT = 16 | 64
//@ tune    BLOCKS = 1 | 8
//@ launch  local_arrays<<<N / 256, 256>>>(A, I, C)

__global__ void __launch_bounds__(256, BLOCKS) local_arrays(const float* A, const int* I, float* C) {
  int i = blockIdx.x * 256 + threadIdx.x;
  float a[COUNT], v = A[i];
#pragma unroll
  for (int k = 0; k < COUNT; ++k) a[k] = v * (k + 1);
  for (int round = 0; round < 16; ++round) {
    if constexpr (FORM == 0) {
      for (int k = 0; k < 64; ++k) a[(I[k] + k) % COUNT] = a[(I[k] + k + 1) % COUNT] * 0.5f + 1.0f;
    } else {
#pragma unroll
      for (int k = 0; k < COUNT; ++k) a[k] = a[(k + 1) % COUNT] * 0.5f + a[(k * 7 + 3) % COUNT];
    }
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < COUNT; ++k) sum += a[k];
  C[i] = sum + (FORM == 0 ? 0.0f : float(I[0]) * 0.0f);
}
