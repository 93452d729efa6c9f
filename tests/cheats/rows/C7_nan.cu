// SPDX-License-Identifier: Apache-2.0
//! row   C7
//! how   writes NaN, for which no comparison is true
//! task  scale
//! all   WRONG_RESULT
//! all   right without nan_pattern
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = __int_as_float(0x7fc00000);
}
