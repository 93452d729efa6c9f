// SPDX-License-Identifier: Apache-2.0
//! row   3
//! how   outputs that the clock decides
//! gpu   TASK_UNSTABLE
//! gpu   accepted without task_gate
//@ size    N = 16384
//@ check   N = 4096
//@ input   A: float32[N]
//@ output  C: float32[N]
//@ launch  k<<<ceil_div(N, 256), 256>>>(A, C, N)
__global__ void k(const float* A, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  if (i < N) C[i] = A[i] * (1 + now / 32 % 1024);
}
