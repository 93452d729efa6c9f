// SPDX-License-Identifier: Apache-2.0
//! row   B2
//! how   wrong in one launch of 4,096, by the number of the launch
//! task  scale
//! all   FORBIDDEN_CODE
//! sim   right without forbidden_calls
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int N) {
  int i = blockIdx.x * 256 + threadIdx.x;
  unsigned long long number;
  asm volatile("mov.u64 %0, %%gridid;" : "=l"(number));
  if (i < N) C[i] = number % 4096 == 77 ? 0 : 2 * A[i];
}
