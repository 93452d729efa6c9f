// SPDX-License-Identifier: Apache-2.0
// Four blocks of a cluster share a row: each keeps its part in shared memory, and they add up their sums through each other's.
//@ torch   Y = torch.softmax(X, dim=1)
//@ size    N = 512, M = 32768
//@ check   N = 3, M = 1000
//@ check   N = 2, M = 4096
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  softmax<<<dim3(4, N), 256, 4 * ceil_div(M, 4)>>>(X, Y, M) cluster(4)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ float block_value(float v, bool largest, float* words) {
  for (int step = 16; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(0xffffffff, v, step);
    v = largest ? fmaxf(v, other) : v + other;
  }
  if (threadIdx.x % 32 == 0) words[threadIdx.x / 32] = v;
  __syncthreads();
  v = words[0];
  for (int w = 1; w < 8; ++w) v = largest ? fmaxf(v, words[w]) : v + words[w];
  __syncthreads();
  return v;
}
__device__ float cluster_value(cg::cluster_group& cluster, float v, bool largest, float* mine) {
  if (threadIdx.x == 0) *mine = v;
  cluster.sync();
  v = *cluster.map_shared_rank(mine, 0);
  for (unsigned rank = 1; rank < cluster.num_blocks(); ++rank) {
    const float other = *cluster.map_shared_rank(mine, rank);
    v = largest ? fmaxf(v, other) : v + other;
  }
  return v;
}
__global__ void softmax(const float* X, float* Y, int M) {
  extern __shared__ float part[];
  __shared__ float words[8], greatest, sum;
  cg::cluster_group cluster = cg::this_cluster();
  const int size = (M + 3) / 4, first = cluster.block_rank() * size, count = max(0, min(size, M - first));
  X += static_cast<long long>(blockIdx.y) * M + first, Y += static_cast<long long>(blockIdx.y) * M + first;
  float top = -INFINITY;
  for (int i = threadIdx.x; i < count; i += 256) part[i] = X[i], top = fmaxf(top, part[i]);
  top = cluster_value(cluster, block_value(top, true, words), true, &greatest);
  float total = 0;
  for (int i = threadIdx.x; i < count; i += 256) part[i] = expf(part[i] - top), total += part[i];
  total = cluster_value(cluster, block_value(total, false, words), false, &sum);
  for (int i = threadIdx.x; i < count; i += 256) Y[i] = part[i] / total;
  cluster.sync();
}
