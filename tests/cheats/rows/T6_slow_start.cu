// SPDX-License-Identifier: Apache-2.0
//! row   T6
//! how   waits where a table of its own is cold, which is at the start of a sample only: the shorter of two batches grows, and the slope between them falls
//! task  scale_rows
//! sim   right
//! gpu   not_faster
//! gpu   FASTER without slope
//@ launch  k<<<N, 256>>>(A, C, M)
__device__ const float table[1 << 20] = {1};
__global__ void k(const float* A, float* C, int M) {
  if (threadIdx.x == 0) {
    const long long before = clock64();
    const float first = *reinterpret_cast<const volatile float*>(table + blockIdx.x * 64 % (1 << 20));
    const long long after = clock64();
    if (after - before > (first == 3 ? 0 : 900))
      while (clock64() - after < 20000) {}
  }
  for (int column = threadIdx.x; column < M; column += 256) C[blockIdx.x * M + column] = 2 * A[blockIdx.x * M + column];
}
