// SPDX-License-Identifier: Apache-2.0
//! row   4.8
//! how   right for every size: no such label
//! task  scale
//! judge final
//! sim   right+general
//! gpu   FASTER+general+sanitizer_passed
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = 2 * A[i];
}
