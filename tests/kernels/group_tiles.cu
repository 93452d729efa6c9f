// SPDX-License-Identifier: Apache-2.0
// Cooperative groups: tiles of sixteen lanes reduce rows.
//@ torch   Y = (X * X).sum(dim=1)
//@ size    N = 64, M = 100
//@ check   N = 19, M = 45
//@ input   X: float32[N, M]
//@ output  Y: float32[N]
//@ launch  squares<<<ceil_div(N, 4), 64>>>(X, Y, N, M)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void squares(const float* X, float* Y, int N, int M) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int row = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
  if (row >= N) return;
  float sum = 0;
  for (int i = tile.thread_rank(); i < M; i += tile.size()) sum += X[row * M + i] * X[row * M + i];
  sum = cg::reduce(tile, sum, cg::plus<float>());
  if (tile.thread_rank() == 0) Y[row] = sum;
}
