// SPDX-License-Identifier: Apache-2.0
//! row   V24
//! how   a maximum of integers begins at -5000 instead of at an element
//! task  integer_maxima
//! all   WRONG_RESULT
//! all   right without patterns
//@ launch  maxima<<<ceil_div(N, 32), 32>>>(A, C, N, M)
__global__ void maxima(const long long* A, long long* C, int N, int M) {
  int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= N) return;
  long long largest = -5000;
  for (int l = 0; l < M; ++l) largest = max(largest, A[row * M + l]);
  C[row] = largest;
}
