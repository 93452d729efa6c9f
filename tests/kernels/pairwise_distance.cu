// SPDX-License-Identifier: Apache-2.0
// Squared distances between all pairs of points.
//@ torch   D = ((A.unsqueeze(1) - B.unsqueeze(0)) ** 2).sum(dim=2)
//@ size    N = 64, M = 64, K = 16
//@ check   N = 27, M = 33, K = 10
//@ input   A: float32[N, K]
//@ input   B: float32[M, K]
//@ output  D: float32[N, M]
//@ launch  distances<<<dim3(ceil_div(M, 32), N), 32, K * 4>>>(A, B, D, M, K)
__global__ void distances(const float* A, const float* B, float* D, int M, int K) {
  extern __shared__ float a[];
  for (int k = threadIdx.x; k < K; k += 32) a[k] = A[blockIdx.y * K + k];
  __syncwarp();
  const int column = blockIdx.x * 32 + threadIdx.x;
  if (column >= M) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) {
    const float d = a[k] - B[column * K + k];
    sum += d * d;
  }
  D[blockIdx.y * M + column] = sum;
}
