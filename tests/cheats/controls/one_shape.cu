// SPDX-License-Identifier: Apache-2.0
//! row   4.8
//! how   right for the declared sizes and for no other
//! task  scale
//! judge final
//! all   right+SPECIALISED
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N, M)
__global__ void k(const float* A, float* C, int N, int M) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (M != 70 && M % 256 != 0) return;
  if (i < N * M) C[i] = 2 * A[i];
}
