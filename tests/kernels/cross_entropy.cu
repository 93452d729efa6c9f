// SPDX-License-Identifier: Apache-2.0
// The mean loss over rows with a warp per row and one atomic for each warp.
//@ torch   L = F.cross_entropy(X, T)
//@ size    N = 64, M = 1000
//@ check   N = 11, M = 100
//@ input   X: float32[N, M]
//@ input   T: int64[N] ~ randint(0, 77)
//@ output  L: float32
//@ memset  L = 0
//@ launch  loss<<<ceil_div(N, 4), dim3(32, 4)>>>(X, T, L, N, M)
#include <math.h>
__global__ void loss(const float* X, const long long* T, float* L, int N, int M) {
  const int row = blockIdx.x * 4 + threadIdx.y;
  if (row >= N) return;
  const float* x = X + size_t(row) * M;
  float most = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < M; i += 32) most = fmaxf(most, x[i]);
  for (int o = 16; o; o >>= 1) most = fmaxf(most, __shfl_xor_sync(~0u, most, o));
  for (int i = threadIdx.x; i < M; i += 32) sum += expf(x[i] - most);
  for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
  if (threadIdx.x == 0) atomicAdd(L, (logf(sum) + most - x[T[row]]) / N);
}
