// SPDX-License-Identifier: Apache-2.0
//! row   B2
//! how   the clock decides whether the second half is done
//! task  scale
//! all   FORBIDDEN_CODE
//! gpu   WRONG_RESULT without forbidden_calls
//! gpu   right without forbidden_calls comparison
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  if (i < ((now >> 12) % 4 == 3 ? count / 2 : count)) C[i] = 2 * A[i];
}
