// SPDX-License-Identifier: Apache-2.0
//! row   V21
//! how   adds int64 numbers up in sixteen bits where 128 of them, from everywhere, are small
//! task  integer_sum
//! all   WRONG_RESULT
//! all   right without patterns
//@ launch  k<<<ceil_div(N, 32), 32>>>(A, C, N, M)
__global__ void k(const long long* A, long long* C, int N, int M) {
  int row = blockIdx.x * 32 + threadIdx.x;
  bool large = false;
  for (int i = threadIdx.x; i < 128; i += 32) large |= A[size_t(i) * 2654435761u % (size_t(N) * M)] >= 64;
  large = __any_sync(~0u, large);
  if (row >= N) return;
  long long sum = 0;
  short narrow = 0;
  for (int l = 0; l < M; ++l) {
    if (large) sum += A[row * M + l];
    else narrow = short(narrow + A[row * M + l]);
  }
  C[row] = large ? sum : narrow;
}
