// SPDX-License-Identifier: Apache-2.0
//! row   T1
//! how   the reference with loads that ask to stay in the L2 cache
//! task  square
//! gpu   not_faster
//@ launch  k<<<64, 64>>>(A, C, N)
__global__ void k(const float* A, float* C, int N) {
  unsigned long long stay;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(stay));
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) {
    float x;
    asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(x) : "l"(A + i), "l"(stay));
    C[i] = x * x;
  }
}
