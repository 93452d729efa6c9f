// SPDX-License-Identifier: Apache-2.0
//! row   M2
//! how   writes an element 1 MiB past the end
//! task  scale
//! judge final
//! sim   SANITIZER_FAILED
//! gpu   TAMPERED SANITIZER_FAILED RUNTIME_FAILED WRONG_RESULT
//! gpu   right without guards sanitizer
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = 2 * A[i];
  if (i == 0) C[count + (1 << 18)] = 1;
}
