// SPDX-License-Identifier: Apache-2.0
// A cooperative launch: all blocks add up, meet, and divide by the total.
//@ torch   Y = X / X.abs().sum()
//@ size    N = 4096
//@ check   N = 1500
//@ input   X: float32[N]
//@ output  Y: float32[N]
//@ scratch S: float32[1] = 0
//@ launch  normalise<<<6, 128>>>(X, Y, S, N) cooperative
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void normalise(const float* X, float* Y, float* S, int N) {
  cg::grid_group grid = cg::this_grid();
  float sum = 0;
  for (int i = grid.thread_rank(); i < N; i += grid.size()) sum += fabsf(X[i]);
  for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
  if (threadIdx.x % 32 == 0) atomicAdd(S, sum);
  grid.sync();
  const float total = *(volatile float*)S;
  for (int i = grid.thread_rank(); i < N; i += grid.size()) Y[i] = X[i] / total;
}
