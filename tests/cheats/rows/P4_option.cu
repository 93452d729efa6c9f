// SPDX-License-Identifier: Apache-2.0
//! row   P4
//! how   a plan that carries a compiler option
//! task  scale
//! all   INVALID_PLAN
//@ option  --use_fast_math
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = 2 * A[i];
}
