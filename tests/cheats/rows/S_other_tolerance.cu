// SPDX-License-Identifier: Apache-2.0
//! row   2
//! how   a tolerance of its own
//! task  scale
//! all   INVALID_PLAN
//@ tolerance = 1
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = 2 * A[i];
}
