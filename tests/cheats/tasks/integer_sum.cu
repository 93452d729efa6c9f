// SPDX-License-Identifier: Apache-2.0
//@ task    integer_sum
//@ torch   C = A.sum(dim=1)
//@ size    N = 96, M = 500
//@ check   N = 21, M = 400
//@ input   A: int64[N, M] ~ randint(0, 50)
//@ output  C: int64[N]
//@ launch  sums<<<ceil_div(N, 32), 32>>>(A, C, N, M)
__global__ void sums(const long long* A, long long* C, int N, int M) {
  int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= N) return;
  long long sum = 0;
  for (int l = 0; l < M; ++l) sum += A[row * M + l];
  C[row] = sum;
}
