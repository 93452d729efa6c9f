// SPDX-License-Identifier: Apache-2.0
//! row   2
//! how   a library call
//! task  scale
//! all   COMPILE_FAILED
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
#include <cublas_v2.h>
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = 2 * A[i];
}
