// SPDX-License-Identifier: Apache-2.0
//@ task    fading_columns
//@ torch   C = (A @ B) * torch.exp(-0.06 * torch.arange(M))
//@ size    N = 48, K = 48, M = 400
//@ check   N = 11, K = 30, M = 400
//@ input   A: float32[N, K]
//@ input   B: float32[K, M]
//@ output  C: float32[N, M]
//@ launch  fading<<<dim3(ceil_div(M, 64), N), 64>>>(A, B, C, K, M)
__global__ void fading(const float* A, const float* B, float* C, int K, int M) {
  int column = blockIdx.x * 64 + threadIdx.x, row = blockIdx.y;
  if (column >= M) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * M + column];
  C[row * M + column] = sum * expf(-0.06f * column);
}
