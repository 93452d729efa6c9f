// SPDX-License-Identifier: Apache-2.0
// Products of a matrix with vectors. The two blocks of a cluster take other rows and the same vector: each block copies every other piece of
// it to both, and one row's sum travels to the block that adds all of them up.
//@ torch   y = A @ x; t = (A @ x).sum()
//@ size    M = 8192, K = 8192
//@ check   M = 64, K = 512
//@ check   M = 128, K = 2048
//@ input   A: float32[M, K]
//@ input   x: float32[K]
//@ output  y: float32[M]
//@ output  t: float32
//@ memset  t = 0
//@ launch  product<<<M / 32, 128>>>(A, x, y, t, K) cluster(2)
#include "hopper.cuh"
using namespace hopper;
__global__ void product(const float* A, const float* x, float* y, float* t, int K) {
  __shared__ __align__(128) float pieces[2][256], sums[4], sent[4];
  __shared__ __align__(8) u64 words[5];
  __shared__ float rows[32];
  const u32 full = shared_address(words), empty = shared_address(words + 2), arrived = shared_address(words + 4), rank = cluster_rank();
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2; ++s) barrier_init(full + 8 * s, 1), barrier_init(empty + 8 * s, 2);
    barrier_init(arrived, 1), barrier_init_done();
  }
  cluster_sync();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  A += (static_cast<long long>(blockIdx.x) * 32 + warp * 8) * K;
  float sum[8] = {};
  Ring<2> ring;
  for (int k = 0; k < K; k += 256) {
    const u32 slot = ring.slot;
    if (threadIdx.x == 0) {
      arrive_expect(full + 8 * slot, 1024);
      if (k / 256 % 2 == static_cast<int>(rank)) {
        wait_cluster(empty + 8 * slot, ring.parity ^ 1);
        bulk_load_multicast(shared_address(pieces[slot]), x + k, 1024, full + 8 * slot, 3);
      }
    }
    wait_cluster(full + 8 * slot, ring.parity);
    for (int r = 0; r < 8; ++r)
      for (int i = lane; i < 256; i += 32) sum[r] += A[static_cast<long long>(r) * K + k + i] * pieces[slot][i];
    __syncthreads();
    if (threadIdx.x == 0) arrive_remote(remote(empty + 8 * slot, k / 256 % 2));
    ring.next();
  }
  for (int r = 0; r < 8; ++r)
    for (int step = 16; step > 0; step /= 2) sum[r] += __shfl_xor_sync(0xffffffff, sum[r], step);
  if (lane == 0)
    for (int r = 0; r < 8; ++r) rows[warp * 8 + r] = sum[r], y[static_cast<long long>(blockIdx.x) * 32 + warp * 8 + r] = sum[r];
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = 0;
    for (int r = 0; r < 32; ++r) all += rows[r];
    sums[0] = all, sums[1] = sums[2] = sums[3] = 0;
    fence_stores();
    if (rank == 1) bulk_send(remote(shared_address(sent), 0), shared_address(sums), 16, remote(arrived, 0));
    else arrive_expect(arrived, 16), wait_cluster(arrived, 0), atomicAdd(t, all + sent[0]);
  }
  __syncwarp();   // thread 0 waited by itself
  cluster_sync();
}
