// SPDX-License-Identifier: Apache-2.0
//! row   M5
//! how   the same on small buffers, which are rotated
//! task  scale
//! gpu   not_faster
//@ scratch S: float32[16777216]
//@ launch  k<<<ceil_div(N, 64), 64>>>(A, C, N, M)
//@ launch  dirty<<<1024, 256>>>(S)
__global__ void k(const float* A, float* C, int N, int M) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < N)
    for (int column = 0; column < M; ++column) C[row * M + column] = 2 * A[row * M + column];
}
__global__ void dirty(float* S) {
  unsigned long long stay;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(stay));
  for (int i = blockIdx.x * 256 + threadIdx.x; i < 16777216; i += 1024 * 256)
    asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(S + i), "f"(1.0f), "l"(stay) : "memory");
}
