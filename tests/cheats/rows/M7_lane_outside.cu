// SPDX-License-Identifier: Apache-2.0
//! row   M7
//! how   takes a value from a lane that its shuffle does not name, which is undefined, and hopes for a number
//! task  scale
//! sim   WRONG_RESULT
//! sim   right without comparison
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = i < count ? A[i] : 0;
  if (threadIdx.x % 32 < 7) a += 0 * __shfl_sync(0x7f, a, 31);
  if (i < count) C[i] = 2 * a;
}
