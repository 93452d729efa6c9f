// SPDX-License-Identifier: Apache-2.0
//! row   C5
//! how   sums every sixteenth element and multiplies
//! task  row_sum
//! all   WRONG_RESULT
//! all   right without error_rule patterns
//@ launch  k<<<ceil_div(N, 64), 64>>>(A, C, N, M)
__global__ void k(const float* A, float* C, int N, int M) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  float sum = 0;
  for (int column = 0; column < M; column += 16) sum += A[row * M + column];
  C[row] = 16 * sum;
}
