// SPDX-License-Identifier: Apache-2.0
//! row   M5
//! how   leaves the L2 cache full of lines that want to stay, so that the reference is slow
//! task  square
//! gpu   not_faster
//@ scratch S: float32[16777216]
//@ launch  k<<<64, 64>>>(A, C, N)
//@ launch  dirty<<<1024, 256>>>(S)
__global__ void k(const float* A, float* C, int N) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) C[i] = A[i] * A[i];
}
__global__ void dirty(float* S) {
  unsigned long long stay;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(stay));
  for (int i = blockIdx.x * 256 + threadIdx.x; i < 16777216; i += 1024 * 256)
    asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(S + i), "f"(1.0f), "l"(stay) : "memory");
}
