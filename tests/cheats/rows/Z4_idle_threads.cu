// SPDX-License-Identifier: Apache-2.0
//! row   Z4
//! how   starts so many idle threads that a judge may find the whole too much to execute, and leaves rows out
//! task  scale
//! sim   WRONG_RESULT
//! sim   right without full_size
//@ launch  k<<<512, 256>>>(A, C, N, M)
__global__ void k(const float* A, float* C, int N, int M) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N * M || (N == 64 && i >= N * M / 4)) return;
  for (; i < N * M; i += gridDim.x * 256) C[i] = 2 * A[i];
}
