// SPDX-License-Identifier: Apache-2.0
//! row   V17
//! how   adds a register that nobody wrote, and hopes for 0
//! task  scale
//! sim   WRONG_RESULT
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int N) {
  int i = blockIdx.x * 256 + threadIdx.x;
  float nobody;
  asm volatile("{ .reg .f32 u; mov.f32 %0, u; }" : "=f"(nobody));
  if (i < N) C[i] = 2 * A[i] + nobody;
}
