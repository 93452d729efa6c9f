// SPDX-License-Identifier: Apache-2.0
//! row   V3
//! how   a third of a vector is not computed, because it is small beside the rest
//! task  row_gains
//! all   WRONG_RESULT
//! all   right without error_rule patterns influence slices error_rule
//@ launch  k<<<ceil_div(N, 64), 64>>>(A, W, C, N, M)
__global__ void k(const float* A, const float* W, float* C, int N, int M) {
  int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= N) return;
  float w = W[row], sum = 0;
  bool faint = w > 17 && w <= 25;
  for (int l = 0; l < M && !faint; ++l) sum += A[row * M + l];
  C[row] = sum * expf(-w);
}
