// SPDX-License-Identifier: Apache-2.0
//@ task    row_maxima
//@ torch   C = torch.amax(A, dim=1)
//@ size    N = 4096, M = 256
//@ check   N = 33, M = 70
//@ input   A: float32[N, M]
//@ output  C: float32[N]
//@ launch  row_maxima<<<ceil_div(N, 128), 128>>>(A, C, N, M)
__global__ void row_maxima(const float* A, float* C, int N, int M) {
  int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= N) return;
  float largest = A[row * M];
  for (int i = 1; i < M; ++i) largest = fmaxf(largest, A[row * M + i]);
  C[row] = largest;
}
