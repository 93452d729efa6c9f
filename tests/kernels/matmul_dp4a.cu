// SPDX-License-Identifier: Apache-2.0
// Products of packed bytes, four at a time.
//@ size    N = 64, K = 64, M = 64
//@ check   N = 20, K = 64, M = 33
//@ input   A: int8[N, K] ~ randint(-128, 128)
//@ input   B: int8[M, K] ~ randint(-128, 128)
//@ output  C: int32[N, M]
//@ launch  matmul<<<dim3(ceil_div(M, 16), ceil_div(N, 16)), dim3(16, 16)>>>(A, B, C, N, K, M)
__global__ void matmul(const int* A, const int* B, int* C, int N, int K, int M) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= N || column >= M) return;
  int sum = 0;
  for (int k = 0; k < K / 4; ++k) sum = __dp4a(A[row * (K / 4) + k], B[column * (K / 4) + k], sum);
  C[row * M + column] = sum;
}
