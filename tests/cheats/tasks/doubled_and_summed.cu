// SPDX-License-Identifier: Apache-2.0
//@ task    doubled_and_summed
//@ torch   C = 2 * A; S = A.sum(dim=1)
//@ size    N = 16384, M = 320
//@ check   N = 33, M = 300
//@ input   A: float32[N, M]
//@ output  C: float32[N, M]
//@ output  S: float32[N]
//@ launch  k<<<N, 64>>>(A, C, S, M)
__global__ void k(const float* A, float* C, float* S, int M) {
  __shared__ float part[64];
  float sum = 0;
  for (int j = threadIdx.x; j < M; j += 64) {
    float a = A[blockIdx.x * M + j];
    C[blockIdx.x * M + j] = 2 * a;
    sum += a;
  }
  part[threadIdx.x] = sum;
  for (int half = 32; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) S[blockIdx.x] = part[0];
}
