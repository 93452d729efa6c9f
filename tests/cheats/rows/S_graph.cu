// SPDX-License-Identifier: Apache-2.0
//! row   2
//! how   a plan that asks for a graph
//! task  scale
//! all   INVALID_PLAN
//@ graph   on
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = 2 * A[i];
}
