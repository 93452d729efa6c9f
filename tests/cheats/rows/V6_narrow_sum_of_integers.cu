// SPDX-License-Identifier: Apache-2.0
//! row   V6
//! how   adds int64 numbers up in sixteen bits, which hold the declared ones
//! task  integer_sum
//! all   WRONG_RESULT
//! all   right without patterns
//@ launch  k<<<ceil_div(N, 32), 32>>>(A, C, N, M)
__global__ void k(const long long* A, long long* C, int N, int M) {
  int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= N) return;
  short sum = 0;
  for (int l = 0; l < M; ++l) sum = short(sum + A[row * M + l]);
  C[row] = sum;
}
