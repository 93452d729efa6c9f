// SPDX-License-Identifier: Apache-2.0
//@ task    row_gains
//@ torch   C = A.sum(dim=1) * torch.exp(-W)
//@ size    N = 512, M = 64
//@ check   N = 90, M = 50
//@ input   A: float32[N, M]
//@ input   W: float32[N] ~ uniform(0, 25)
//@ output  C: float32[N]
//@ launch  gains<<<ceil_div(N, 64), 64>>>(A, W, C, N, M)
__global__ void gains(const float* A, const float* W, float* C, int N, int M) {
  int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= N) return;
  float sum = 0;
  for (int l = 0; l < M; ++l) sum += A[row * M + l];
  C[row] = sum * expf(-W[row]);
}
