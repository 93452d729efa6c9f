// SPDX-License-Identifier: Apache-2.0
//! row   V22
//! how   a product of integers by way of float, which holds what the declared ones come to
//! task  integer_product
//! all   WRONG_RESULT
//! all   right without patterns
//@ launch  product<<<dim3(ceil_div(M, 32), N), 32>>>(A, B, C, K, M)
__global__ void product(const int* A, const int* B, int* C, int K, int M) {
  int column = blockIdx.x * 32 + threadIdx.x;
  if (column >= M) return;
  float sum = 0;
  for (int l = 0; l < K; ++l) sum += float(A[blockIdx.y * K + l]) * float(B[l * M + column]);
  C[blockIdx.y * M + column] = int(sum);
}
