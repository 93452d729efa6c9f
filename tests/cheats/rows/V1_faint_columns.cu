// SPDX-License-Identifier: Apache-2.0
//! row   V1
//! how   columns whose numbers are 1e-9 of the largest are 0: a tenth of the product is left out
//! task  fading_columns
//! all   WRONG_RESULT
//! all   right without error_rule patterns influence slices
//@ launch  k<<<dim3(ceil_div(M, 64), N), 64>>>(A, B, C, K, M)
__global__ void k(const float* A, const float* B, float* C, int K, int M) {
  int column = blockIdx.x * 64 + threadIdx.x, row = blockIdx.y;
  if (column >= M) return;
  float sum = 0;
  for (int k = 0; k < K && column < 360; ++k) sum += A[row * K + k] * B[k * M + column];
  C[row * M + column] = sum * expf(-0.06f * column);
}
