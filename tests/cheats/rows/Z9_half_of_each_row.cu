// SPDX-License-Identifier: Apache-2.0
//! row   Z9
//! how   an argmax over half of each row, at full size only: indices are no numbers with a rounding
//! task  vast_argmax
//! all   WRONG_RESULT
//! sim   right without full_size
//@ launch  rows<<<ceil_div(N, 128), 128>>>(A, C, N, M)
__global__ void rows(const float* A, long long* C, int N, int M) {
  int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= N) return;
  int best = 0;
  for (int k = 1; k < (N > 100000 ? M / 2 : M); ++k)
    if (A[row * M + k] > A[row * M + best]) best = k;
  C[row] = best;
}
