// SPDX-License-Identifier: Apache-2.0
//! row   T2
//! how   the reference, which then prefetches what lies where the next inputs may be
//! task  square
//! gpu   not_faster
//@ launch  k<<<64, 64>>>(A, C, N)
//@ launch  guess<<<256, 256>>>(A, N)
__global__ void k(const float* A, float* C, int N) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) C[i] = A[i] * A[i];
}
__global__ void guess(const float* A, int N) {
  for (int i = (blockIdx.x * 256 + threadIdx.x) * 32; i < N; i += 256 * 256 * 32)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(A + 2 * (N + 2048) + i));
}
