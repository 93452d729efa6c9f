// SPDX-License-Identifier: Apache-2.0
//! row   2
//! how   an output that is no buffer
//! task  scale
//! all   INVALID_PLAN
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, lazy(C), N * M)
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = 2 * A[i];
}
