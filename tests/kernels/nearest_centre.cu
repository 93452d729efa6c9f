// SPDX-License-Identifier: Apache-2.0
// k-means assignment with the centres in constant-like local arrays and ties to the first.
//@ size    N = 128, K = 5
//@ check   N = 99
//@ input   X: float32[N, 2]
//@ input   M: float32[K, 2]
//@ output  I: int32[N]
//@ launch  assign<5><<<ceil_div(N, 32), 32>>>(X, M, I, N)
template <int K>
__global__ void assign(const float2* X, const float2* M, int* I, int N) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i >= N) return;
  float distance[K];
  const float2 x = X[i];
  for (int k = 0; k < K; ++k) distance[k] = hypotf(x.x - M[k].x, x.y - M[k].y);
  int best = 0;
  for (int k = 1; k < K; ++k)
    if (distance[k] < distance[best]) best = k;
  I[i] = best;
}
