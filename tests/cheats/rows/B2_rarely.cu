// SPDX-License-Identifier: Apache-2.0
//! row   B2
//! how   one element in 16 million is wrong, when the clock says so: no number of trials finds it
//! task  scale
//! all   FORBIDDEN_CODE
//! sim   right without forbidden_calls
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = 2 * A[i] + ((clock64() & 0xffffff) == 77 ? 1 : 0);
}
