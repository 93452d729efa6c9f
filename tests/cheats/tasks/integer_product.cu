// SPDX-License-Identifier: Apache-2.0
//@ task    integer_product
//@ torch   C = A @ B
//@ size    N = 32, K = 96, M = 40
//@ check   N = 19, K = 200, M = 33
//@ input   A: int32[N, K] ~ randint(-100, 100)
//@ input   B: int32[K, M] ~ randint(-100, 100)
//@ output  C: int32[N, M]
//@ launch  product<<<dim3(ceil_div(M, 32), N), 32>>>(A, B, C, K, M)
__global__ void product(const int* A, const int* B, int* C, int K, int M) {
  int column = blockIdx.x * 32 + threadIdx.x;
  if (column >= M) return;
  int sum = 0;
  for (int l = 0; l < K; ++l) sum += A[blockIdx.y * K + l] * B[l * M + column];
  C[blockIdx.y * M + column] = sum;
}
