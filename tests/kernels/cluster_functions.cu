// SPDX-License-Identifier: Apache-2.0
// Functions of hopper.cuh for clusters that no other kernel here calls: every block gives its part of a sum to the others, in four ways.
//@ torch   Y = X.reshape(N, 4, 128).sum(1); Z = X.reshape(N, 4, 128).sum(1)
//@ size    N = 1024
//@ check   N = 3
//@ check   N = 8
//@ input   X: float32[N, 512]
//@ output  Y: float32[N, 128]
//@ output  Z: float32[N, 128]
//@ launch  sums<<<dim3(4, N), 128>>>(tensor_map(X, axes(128, N * 4), box(128, 1)), X, Y, Z, N) cluster(4, 1, 1)
#include "hopper.cuh"
using namespace hopper;

__global__ void sums(const __grid_constant__ CUtensorMap map, const float* X, float* Y, float* Z, int N) {
  __shared__ __align__(128) float row[128];    // of the last block, sent to all
  __shared__ __align__(128) float own[128];
  __shared__ float added[128], stored[4][128];
  __shared__ __align__(8) u64 word;
  const int t = threadIdx.x, n = blockIdx.y;
  const u32 rank = cluster_rank(), blocks = cluster_blocks(), bar = shared_address(&word);
  if (t == 0) barrier_init(bar, 1), barrier_init_done();
  added[t] = 0;
  own[t] = X[(long long)n * 512 + 128 * rank + t];
  __syncthreads();
  if (t == 0) arrive_expect(bar, 512);
  cluster_arrive();
  cluster_wait();
  if (rank == 3 && t == 0) load_2d_multicast(shared_address(row), map, bar, 0, 4 * n + 3, 15);
  add_remote(remote(shared_address(&added[t]), 0), own[t]);
  store_remote(remote(shared_address(&stored[rank][t]), 1), own[t]);
  wait_cluster(bar, 0);
  cluster_sync();
  if (rank == 0) Y[(long long)n * 128 + t] = added[t] - row[t] + load_remote(remote(shared_address(&own[t]), blocks - 1));
  if (rank == 1 && t < 32) {
    const float4 first = load_remote4(remote(shared_address(&own[4 * t]), 0));
    float* const z = Z + (long long)n * 128 + 4 * t;
    for (int i = 0; i < 4; ++i) z[i] = (i == 0 ? first.x : i == 1 ? first.y : i == 2 ? first.z : first.w) + stored[1][4 * t + i] + stored[2][4 * t + i] + row[4 * t + i];
  }
  cluster_sync();
}
