// SPDX-License-Identifier: Apache-2.0
//! row   2
//! how   a kernel that nothing launches
//! task  scale
//! all   INVALID_PLAN
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = 2 * A[i];
}
