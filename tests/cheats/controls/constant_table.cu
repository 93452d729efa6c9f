// SPDX-License-Identifier: Apache-2.0
//! row   4.5
//! how   a table of constants that does not depend on the inputs
//! task  scale
//! all   right
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__constant__ const float factors[4] = {2, 2, 2, 2};
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = factors[i % 4] * A[i];
}
