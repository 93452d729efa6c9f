// SPDX-License-Identifier: Apache-2.0
//! row   2
//! how   another value for a size of the task
//! task  scale
//! all   INVALID_PLAN
//@ size    N = 1, M = 1
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = 2 * A[i];
}
