// SPDX-License-Identifier: Apache-2.0
//! row   M2
//! how   writes one element past the end
//! task  scale
//! sim   SANITIZER_FAILED
//! gpu   TAMPERED
//! gpu   right without guards
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= count) C[i] = i < count ? 2 * A[i] : 1;
}
