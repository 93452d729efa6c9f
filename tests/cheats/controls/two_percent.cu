// SPDX-License-Identifier: Apache-2.0
//! row   4.9
//! how   an honest gain of 2 %: 9,800 steps where the reference takes 10,000
//! task  known_work
//! gpu   FASTER
//@ launch  work<<<ceil_div(N, 256), 256>>>(A, C, N)
__global__ void work(const float* A, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float x = A[i];
  for (int step = 0; step < 9800; ++step) asm volatile("fma.rn.f32 %0, %0, 0f3F800000, 0f00000000;" : "+f"(x));
  C[i] = x + 1;
}
