// SPDX-License-Identifier: Apache-2.0
//! row   B1
//! how   works only where it finds NaN in its output
//! task  scale
//! sim   SANITIZER_FAILED
//! gpu   WRONG_RESULT
//! gpu   right without finite_fill timed_poison timed_outputs
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
// An honest launch cannot tell: its output holds the poison of the tool.
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count && C[i] != C[i]) C[i] = 2 * A[i];
}
