// SPDX-License-Identifier: Apache-2.0
//! row   T4
//! how   a kernel that starts another
//! task  scale
//! all   COMPILE_FAILED FORBIDDEN_CODE
//@ launch  k<<<1, 1>>>(A, C, N * M)
__global__ void work(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = 2 * A[i];
}
__global__ void k(const float* A, float* C, int count) { work<<<(count + 255) / 256, 256>>>(A, C, count); }
