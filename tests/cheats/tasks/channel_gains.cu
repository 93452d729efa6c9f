// SPDX-License-Identifier: Apache-2.0
//@ task    channel_gains
//@ torch   C = A * torch.exp(G).reshape(1, M, 1) * A.mean(dim=2, keepdim=True)
//@ size    N = 32, M = 48, L = 20
//@ check   N = 5, M = 40, L = 20
//@ input   A: float32[N, M, L]
//@ input   G: float32[M] ~ uniform(-24, 0)
//@ output  C: float32[N, M, L]
//@ launch  gains<<<dim3(M, N), 32>>>(A, G, C, M, L)
__global__ void gains(const float* A, const float* G, float* C, int M, int L) {
  A += (blockIdx.y * M + blockIdx.x) * L, C += (blockIdx.y * M + blockIdx.x) * L;
  float sum = 0;
  for (int l = 0; l < L; ++l) sum += A[l];
  for (int l = threadIdx.x; l < L; l += 32) C[l] = A[l] * expf(G[blockIdx.x]) * (sum / L);
}
