// SPDX-License-Identifier: Apache-2.0
//$ A number for all blocks of a cluster.
//$ needs hopper.cuh

// Writes to the same place of every block's shared memory.
__device__ __forceinline__ void give_all(float* place, float value) {
  using namespace hopper;
  const u32 here = shared_address(place), blocks = cluster_blocks();
  for (u32 rank = 0; rank < blocks; ++rank) store_remote(remote(here, rank), value);
}
