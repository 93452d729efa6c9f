// SPDX-License-Identifier: Apache-2.0
//@ task    some_above
//@ torch   C = (A > 1.5).any(dim=1)
//@ size    N = 512, M = 20
//@ check   N = 33, M = 15
//@ input   A: float32[N, M]
//@ output  C: bool[N]
//@ launch  above<<<ceil_div(N, 64), 64>>>(A, C, N, M)
__global__ void above(const float* A, bool* C, int N, int M) {
  int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= N) return;
  bool found = false;
  for (int l = 0; l < M; ++l) found |= A[row * M + l] > 1.5f;
  C[row] = found;
}
