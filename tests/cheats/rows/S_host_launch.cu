// SPDX-License-Identifier: Apache-2.0
//! row   2
//! how   a host function that launches
//! task  scale
//! all   COMPILE_FAILED
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int count);
void run(const float* A, float* C) { k<<<1, 1>>>(A, C, 1); }
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = 2 * A[i];
}
