// SPDX-License-Identifier: Apache-2.0
//@ task    integer_maxima
//@ torch   C = torch.amax(A, dim=1)
//@ size    N = 96, M = 500
//@ check   N = 21, M = 400
//@ input   A: int64[N, M] ~ randint(-1000, 1000)
//@ output  C: int64[N]
//@ launch  maxima<<<ceil_div(N, 32), 32>>>(A, C, N, M)
__global__ void maxima(const long long* A, long long* C, int N, int M) {
  int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= N) return;
  long long largest = A[row * M];
  for (int l = 1; l < M; ++l) largest = max(largest, A[row * M + l]);
  C[row] = largest;
}
