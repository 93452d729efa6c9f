// SPDX-License-Identifier: Apache-2.0
//! row   T1
//! how   a plan that asks for an access-policy window
//! task  scale
//! all   INVALID_PLAN
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M) access_policy(A, persisting)
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = 2 * A[i];
}
