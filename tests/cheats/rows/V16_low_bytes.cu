// SPDX-License-Identifier: Apache-2.0
//! row   V16
//! how   integers are compared by their low byte, which holds what is declared
//! task  largest_integer
//! all   WRONG_RESULT
//! sim   right without patterns
//@ launch  k<<<ceil_div(N, 32), 32>>>(A, C, N, M)
__global__ void k(const int* A, long long* C, int N, int M) {
  int row = blockIdx.x * 32 + threadIdx.x, best = 0;
  if (row >= N) return;
  for (int j = 1; j < M; ++j)
    if (static_cast<signed char>(A[row * M + j]) > static_cast<signed char>(A[row * M + best])) best = j;
  C[row] = best;
}
