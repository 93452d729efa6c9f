// SPDX-License-Identifier: Apache-2.0
//! row   X2
//! how   marks its main kernel as preparation
//! task  scale
//! all   INVALID_PLAN
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M) once
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = 2 * A[i];
}
