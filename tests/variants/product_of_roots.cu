// SPDX-License-Identifier: Apache-2.0
// A root of what is below zero is the GPU's own NaN, 0x7fffffff, which no rounding of a factor may carry into its sign.

//@ task    product_of_roots
//@ torch   C = torch.sqrt(A) @ B
//@ size    N = 256, K = 64, M = 192
//@ check   N = 70, K = 33, M = 65
//@ input   A: float32[N, K] ~ uniform(-0.02, 1)
//@ input   B: float32[K, M]
//@ output  C: float32[N, M]
//@ launch  roots<<<ceil_div(N * M, 256), 256>>>(A, B, C, N, K, M)
__global__ void roots(const float* A, const float* B, float* C, int N, int K, int M) {
  RESULT(i, N * M);
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += sqrtf(A[i / M * K + k]) * B[k * M + i % M];
  C[i] = sum;
}
