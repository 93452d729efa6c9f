// SPDX-License-Identifier: Apache-2.0
//@ task    largest_integer
//@ torch   C = torch.argmax(A, dim=1)
//@ size    N = 256, M = 64
//@ check   N = 33, M = 70
//@ input   A: int32[N, M] ~ randint(-100, 100)
//@ output  C: int64[N]
//@ launch  k<<<ceil_div(N, 32), 32>>>(A, C, N, M)
__global__ void k(const int* A, long long* C, int N, int M) {
  int row = blockIdx.x * 32 + threadIdx.x, best = 0;
  if (row >= N) return;
  for (int j = 1; j < M; ++j)
    if (A[row * M + j] > A[row * M + best]) best = j;
  C[row] = best;
}
