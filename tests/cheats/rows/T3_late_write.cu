// SPDX-License-Identifier: Apache-2.0
//! row   T3
//! how   lets a dependent launch go first, and stores long after
//! task  scale
//! gpu   SLOWER TIMEOUT
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  asm volatile("griddepcontrol.launch_dependents;");
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  while (now - begin < 1000000);
  if (i < count) C[i] = 2 * A[i];
}
