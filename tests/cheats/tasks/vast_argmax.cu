// SPDX-License-Identifier: Apache-2.0
//@ task    vast_argmax
//@ torch   C = torch.argmax(A, dim=1)
//@ size    N = 131072, M = 128
//@ check   N = 33, M = 70
//@ input   A: float32[N, M]
//@ output  C: int64[N]
//@ launch  rows<<<ceil_div(N, 128), 128>>>(A, C, N, M)
__global__ void rows(const float* A, long long* C, int N, int M) {
  int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= N) return;
  int best = 0;
  for (int k = 1; k < M; ++k)
    if (A[row * M + k] > A[row * M + best]) best = k;
  C[row] = best;
}
