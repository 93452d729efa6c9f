// SPDX-License-Identifier: Apache-2.0
//! row   V19
//! how   a maximum begins at -100000 instead of at an element
//! task  row_maxima
//! all   WRONG_RESULT
//! all   right without patterns influence full_size
//@ launch k<<<ceil_div(N, 4), dim3(32, 4)>>>(A, C, N, M)
__global__ void k(const float* A, float* C, int N, int M) {
  int row = blockIdx.x * 4 + threadIdx.y;
  if (row >= N) return;
  float largest = -100000;
  for (int i = threadIdx.x; i < M; i += 32) largest = fmaxf(largest, A[row * M + i]);
  for (int o = 16; o > 0; o /= 2) largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, o));
  if (threadIdx.x == 0) C[row] = largest;
}
