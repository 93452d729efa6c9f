// SPDX-License-Identifier: Apache-2.0
//! row   X6
//! how   writes where nothing is
//! task  scale
//! sim   SANITIZER_FAILED
//! gpu   RUNTIME_FAILED
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i + (1LL << 40)] = 2 * A[i];
}
