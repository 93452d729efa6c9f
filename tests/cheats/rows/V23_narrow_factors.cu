// SPDX-License-Identifier: Apache-2.0
//! row   V23
//! how   a product of integers whose factors are cut to sixteen bits: only where one matrix is large and the other small does the result still fit
//! task  integer_product
//! all   WRONG_RESULT
//! all   right without patterns
//@ launch  product<<<dim3(ceil_div(M, 32), N), 32>>>(A, B, C, K, M)
__global__ void product(const int* A, const int* B, int* C, int K, int M) {
  int column = blockIdx.x * 32 + threadIdx.x;
  if (column >= M) return;
  int sum = 0;
  for (int l = 0; l < K; ++l) sum += short(A[blockIdx.y * K + l]) * short(B[l * M + column]);
  C[blockIdx.y * M + column] = sum;
}
