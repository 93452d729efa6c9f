// SPDX-License-Identifier: Apache-2.0
//@ task    exponential_and_sum
//@ torch   E = torch.exp(A); S = A.sum(dim=1)
//@ size    N = 64, M = 256
//@ check   N = 33, M = 70
//@ input   A: float32[N, M]
//@ output  E: float32[N, M]
//@ output  S: float32[N]
//@ launch  rows<<<N, 32>>>(A, E, S, M)
__global__ void rows(const float* A, float* E, float* S, int M) {
  float sum = 0;
  for (int i = threadIdx.x; i < M; i += 32) {
    float a = A[blockIdx.x * M + i];
    E[blockIdx.x * M + i] = expf(a);
    sum += a;
  }
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(~0u, sum, apart);
  if (threadIdx.x == 0) S[blockIdx.x] = sum;
}
