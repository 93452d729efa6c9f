// SPDX-License-Identifier: Apache-2.0
//! row   V26
//! how   what is not at most 1.5 counts as above it, also NaN
//! task  some_above
//! all   WRONG_RESULT
//! all   right without patterns
//@ launch  above<<<ceil_div(N, 64), 64>>>(A, C, N, M)
__global__ void above(const float* A, bool* C, int N, int M) {
  int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= N) return;
  bool found = false;
  for (int l = 0; l < M; ++l) found |= !(A[row * M + l] <= 1.5f);
  C[row] = found;
}
