// SPDX-License-Identifier: Apache-2.0
//! row   X1
//! how   asks for 1 MiB of shared memory; its launch fails and the old output looks right
//! task  scale
//! all   INVALID_PLAN RUNTIME_FAILED
//@ launch  k<<<ceil_div(N * M, 256), 256, 1048576>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = 2 * A[i];
}
