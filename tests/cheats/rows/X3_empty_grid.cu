// SPDX-License-Identifier: Apache-2.0
//! row   X3
//! how   a grid that is 0
//! task  scale
//! all   INVALID_PLAN
//@ launch  k<<<N - N, 256>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = 2 * A[i];
}
