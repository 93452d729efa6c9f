// SPDX-License-Identifier: Apache-2.0
//! row   X9
//! how   includes a file of the user, hoping to read it in the log
//! task  scale
//! all   COMPILE_FAILED
//! lacks root:
#include "/etc/passwd"
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = 2 * A[i];
}
