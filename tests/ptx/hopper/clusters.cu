// SPDX-License-Identifier: Apache-2.0
// Faults of clusters and their twins, for tests/unit/sim/clusters.cpp; a marked line is where the finding belongs. clusters.ptx is made
// of it as hopper.ptx is. 128 threads a block, four blocks in one cluster; x holds 1024 floats.
#include "hopper.cuh"
using namespace hopper;
#define KERNEL(name) extern "C" __global__ void name(const float* x, float* out)
#define T threadIdx.x
#define RANK cluster_rank()
#define NEXT ((cluster_rank() + 1) % cluster_blocks())
#define ALL ((unsigned short)((1u << cluster_blocks()) - 1))
#define SHARED                                          \
  __shared__ __align__(128) float s[128];               \
  __shared__ __align__(8) u64 full_word, empty_word;    \
  const u32 full = shared_address(&full_word), empty = shared_address(&empty_word), here = shared_address(s);
#define MINE(value) out[blockIdx.x * 128 + T] = value

KERNEL(shared_race_read_without_barrier_bad) {
  SHARED
  cluster_sync();
  s[T] = x[T];
  __syncthreads();
  MINE(load_remote(remote(here + 4 * T, NEXT)));  // FAULT
  cluster_sync();
}
KERNEL(shared_race_read_without_barrier_ok) {
  SHARED
  s[T] = x[T];
  cluster_sync();
  MINE(load_remote(remote(here + 4 * T, NEXT)));
  cluster_sync();
}
KERNEL(shared_race_overwritten_while_read_bad) {
  SHARED
  s[T] = x[T];
  cluster_sync();
  MINE(load_remote(remote(here + 4 * T, NEXT)));  // FAULT
  __syncthreads();
  s[T] = 1;  // FAULT
  cluster_sync();
}
KERNEL(shared_race_overwritten_while_read_ok) {
  SHARED
  s[T] = x[T];
  cluster_sync();
  MINE(load_remote(remote(here + 4 * T, NEXT)));
  cluster_sync();
  s[T] = 1;
}
KERNEL(shared_race_two_write_the_same_bad) {
  SHARED
  s[T] = 0;
  cluster_sync();
  if (RANK > 0) store_remote(remote(here + 4 * T, 0), x[T]);  // FAULT
  cluster_sync();
  MINE(s[T]);
}
KERNEL(shared_race_two_write_the_same_ok) {
  SHARED
  s[T] = 0;
  cluster_sync();
  if (RANK > 0) add_remote(remote(here + 4 * T, 0), x[T]);
  cluster_sync();
  MINE(s[T]);
}
KERNEL(shared_race_block_has_left_bad) {
  SHARED
  s[T] = x[T];
  cluster_sync();
  MINE(load_remote(remote(here + 4 * T, NEXT)));  // FAULT
}
KERNEL(shared_race_block_has_left_ok) {
  SHARED
  s[T] = x[T];
  cluster_sync();
  MINE(load_remote(remote(here + 4 * T, NEXT)));
  cluster_arrive();
  cluster_wait();
}
KERNEL(shared_race_block_not_begun_bad) {
  SHARED
  s[T] = 0;
  store_remote(remote(here + 4 * T, NEXT), x[T]);  // FAULT
  cluster_sync();
  MINE(s[T]);
}
KERNEL(shared_race_block_not_begun_ok) {
  SHARED
  s[T] = 0;
  cluster_sync();
  store_remote(remote(here + 4 * T, NEXT), x[T]);
  cluster_sync();
  MINE(s[T]);
}
KERNEL(divergent_barrier_missing_arrive_bad) {
  SHARED
  s[T] = x[T];
  cluster_wait();  // FAULT
  MINE(s[T]);
}
KERNEL(divergent_barrier_missing_arrive_ok) {
  SHARED
  s[T] = x[T];
  cluster_arrive();
  cluster_wait();
  MINE(s[T]);
}
KERNEL(divergent_barrier_arrives_twice_bad) {
  SHARED
  s[T] = x[T];
  cluster_arrive();
  cluster_arrive();  // FAULT
  cluster_wait();
  MINE(s[T]);
}
KERNEL(divergent_barrier_arrives_twice_ok) {
  SHARED
  s[T] = x[T];
  cluster_arrive();
  cluster_wait();
  cluster_arrive();
  cluster_wait();
  MINE(s[T]);
}
KERNEL(divergent_barrier_one_warp_is_absent_bad) {
  SHARED
  s[T] = x[T];
  if (RANK == 1 && T < 32) __syncthreads();  // FAULT
  cluster_sync();  // FAULT
  MINE(s[T]);
}
KERNEL(divergent_barrier_one_warp_is_absent_ok) {
  SHARED
  s[T] = x[T];
  if (RANK == 1 && T < 32) return;
  cluster_sync();
  MINE(s[T]);
}
KERNEL(divergent_barrier_part_of_a_warp_bad) {
  SHARED
  s[T] = x[T];
  if (T != 1) cluster_arrive();  // FAULT
  else __syncthreads();  // FAULT
  cluster_wait();
  MINE(s[T]);
}
KERNEL(divergent_barrier_part_of_a_warp_ok) {
  SHARED
  if (T == 0) barrier_init(full, 1), barrier_init_done();
  s[T] = x[T];
  __syncthreads();
  if (T == 96) arrive(full);
  if (T == 0) wait(full, 0);   // alone, while its warp goes ahead
  cluster_sync();
  MINE(s[T]);
}
KERNEL(out_of_bounds_no_such_rank_bad) {
  SHARED
  s[T] = x[T];
  cluster_sync();
  MINE(load_remote(remote(here + 4 * T, 4)));  // FAULT
  cluster_sync();
}
KERNEL(out_of_bounds_no_such_rank_ok) {
  SHARED
  s[T] = x[T];
  cluster_sync();
  MINE(load_remote(remote(here + 4 * T, cluster_blocks() - 1)));
  cluster_sync();
}
KERNEL(out_of_bounds_multicast_ranks_bad) {
  SHARED
  if (T == 0) barrier_init(full, 1), barrier_init_done();
  cluster_sync();
  if (T == 0) arrive_expect(full, 512);
  if (T == 0 && RANK == 0) bulk_load_multicast(here, x, 512, full, 0x1f);  // FAULT
  wait_cluster(full, 0);  // FAULT
  MINE(s[T]);
  cluster_sync();
}
KERNEL(out_of_bounds_multicast_ranks_ok) {
  SHARED
  if (T == 0) barrier_init(full, 1), barrier_init_done();
  cluster_sync();
  if (T == 0) arrive_expect(full, 512);
  if (T == 0 && RANK == 0) bulk_load_multicast(here, x, 512, full, ALL);
  wait_cluster(full, 0);
  MINE(s[T]);
  cluster_sync();
}
KERNEL(shared_race_multicast_too_early_bad) {
  SHARED
  if (T == 0) barrier_init(full, 1), barrier_init_done();
  cluster_sync();
  float sum = 0;
  for (u32 k = 0; k < 2; ++k) {
    if (T == 0) arrive_expect(full, 512);
    if (T == 0 && RANK == 0) bulk_load_multicast(here, x + 128 * k, 512, full, ALL);  // FAULT
    wait_cluster(full, k);
    sum += s[T];  // FAULT
    __syncthreads();
  }
  MINE(sum);
  cluster_sync();
}
KERNEL(shared_race_multicast_too_early_ok) {
  SHARED
  if (T == 0) barrier_init(full, 1), barrier_init(empty, cluster_blocks()), barrier_init_done();
  cluster_sync();
  float sum = 0;
  for (u32 k = 0; k < 2; ++k) {
    if (T == 0) arrive_expect(full, 512);
    if (T == 0 && RANK == 0) {
      if (k > 0) wait_cluster(empty, k - 1);
      bulk_load_multicast(here, x + 128 * k, 512, full, ALL);
    }
    wait_cluster(full, k);
    sum += s[T];
    __syncthreads();
    if (T == 0) arrive_remote(remote(empty, 0));
  }
  MINE(sum);
  cluster_sync();
}
KERNEL(divergent_barrier_nobody_expects_bad) {
  SHARED
  if (T == 0) barrier_init(full, 1), barrier_init_done();
  cluster_sync();
  if (T == 0 && RANK == 0) arrive_expect(full, 512), bulk_load_multicast(here, x, 512, full, ALL);
  wait_cluster(full, 0);  // FAULT
  MINE(s[T]);
  cluster_sync();
}
KERNEL(divergent_barrier_nobody_expects_ok) {
  SHARED
  if (T == 0) barrier_init(full, 1), barrier_init_done();
  cluster_sync();
  if (T == 0) arrive_expect(full, 512);
  if (T == 0 && RANK == 0) bulk_load_multicast(here, x, 512, full, ALL);
  wait_cluster(full, 0);
  MINE(s[T]);
  cluster_sync();
}
KERNEL(other_barrier_of_another_block_bad) {
  SHARED
  if (T == 0) barrier_init(full, 1), barrier_init_done();
  s[T] = x[T];
  fence_stores();
  cluster_sync();
  __shared__ __align__(128) float to[128];
  if (T == 0) arrive_expect(full, 512), bulk_send(remote(shared_address(to), NEXT), here, 512, full);  // FAULT
  wait_cluster(full, 0);  // FAULT
  MINE(to[T]);
  cluster_sync();
}
KERNEL(other_barrier_of_another_block_ok) {
  SHARED
  if (T == 0) barrier_init(full, 1), barrier_init_done();
  s[T] = x[T];
  fence_stores();
  cluster_sync();
  __shared__ __align__(128) float to[128];
  if (T == 0) arrive_expect(full, 512), bulk_send(remote(shared_address(to), NEXT), here, 512, remote(full, NEXT));
  wait_cluster(full, 0);
  MINE(to[T]);
  cluster_sync();
}
KERNEL(shared_race_add_no_proxy_fence_bad) {
  SHARED
  s[T] = x[T];
  __syncthreads();
  if (T == 0) bulk_add(out, here, 512), bulk_commit(), bulk_wait<0>();  // FAULT
}
KERNEL(shared_race_add_no_proxy_fence_ok) {
  SHARED
  s[T] = x[T];
  fence_stores();
  __syncthreads();
  if (T == 0) bulk_add(out, here, 512), bulk_commit(), bulk_wait<0>();
}
KERNEL(shared_race_remote_store_no_proxy_fence_bad) {
  SHARED
  s[T] = 0;
  fence_stores();
  cluster_sync();
  store_remote(remote(here + 4 * T, NEXT), x[T]);
  cluster_sync();
  if (T == 0) bulk_add(out, here, 512), bulk_commit(), bulk_wait<0>();  // FAULT
}
KERNEL(shared_race_remote_store_no_proxy_fence_ok) {
  SHARED
  s[T] = 0;
  fence_stores();
  cluster_sync();
  store_remote(remote(here + 4 * T, NEXT), x[T]);
  fence_stores();
  cluster_sync();
  if (T == 0) bulk_add(out, here, 512), bulk_commit(), bulk_wait<0>();
}
KERNEL(shared_race_next_warp_bad) {
  SHARED
  s[T] = x[T];
  cluster_arrive();
  MINE(s[(T + 32) % 128]);  // FAULT
  cluster_wait();
}
KERNEL(shared_race_next_warp_ok) {
  SHARED
  s[T] = x[T];
  cluster_sync();
  MINE(s[(T + 32) % 128]);
}

// Generic addresses of another block, and whether a barrier's phase is over, asked once.
template <class V>
__device__ V* generic_remote(V* here, u32 rank) {
  u64 there;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(here), "r"(rank));
  return reinterpret_cast<V*>(there);
}
#define ASK(barrier)                                                                                                                               \
  {                                                                                                                                                \
    u32 done;                                                                                                                                      \
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "l"(barrier) : "memory");       \
  }

KERNEL(other_asks_a_barrier_of_another_block_bad) {
  SHARED
  if (T == 0) barrier_init(full, 1), barrier_init_done();
  cluster_sync();
  ASK(generic_remote(&full_word, NEXT))  // FAULT
  cluster_sync();
}
KERNEL(other_asks_a_barrier_of_another_block_ok) {
  SHARED
  if (T == 0) barrier_init(full, 1), barrier_init_done();
  cluster_sync();
  ASK(generic_remote(&full_word, RANK))
  cluster_sync();
}
// Block 0 writes in the barrier's next phase, which the others have not waited for.
KERNEL(shared_race_next_phase_bad) {
  SHARED
  if (T == 0) barrier_init(full, 1), barrier_init_done();
  s[T] = 0;
  cluster_sync();
  cluster_arrive();
  if (RANK > 0) ASK(&full_word)
  cluster_wait();
  if (RANK == 0) s[T] = x[T];                               // FAULT
  else MINE(load_remote(remote(here + 4 * T, 0)));          // FAULT
  cluster_sync();
}
KERNEL(shared_race_next_phase_ok) {
  SHARED
  if (T == 0) barrier_init(full, 1), barrier_init_done();
  s[T] = x[T];
  cluster_sync();
  cluster_arrive();
  if (RANK > 0) ASK(&full_word)
  cluster_wait();
  if (RANK > 0) MINE(load_remote(remote(here + 4 * T, 0)));
  cluster_sync();
}

// A warp's end is what the cluster's barrier waits for last, while the others of its block spin.
KERNEL(ends_while_others_spin) {
  SHARED
  if (T == 0) barrier_init(full, 1), barrier_init_done();
  __syncthreads();
  if (RANK > 0 && T >= 96) return;
  cluster_arrive();
  if (RANK > 0) wait_cluster(full, 0);
  cluster_wait();
  if (RANK == 0 && T > 0 && T < cluster_blocks()) arrive_remote(remote(full, T));
  MINE(x[T]);
}
KERNEL(sevenths) {
  SHARED
  __shared__ float stored[128], sums[128];
  s[T] = stored[T] = sums[T] = 0;
  cluster_sync();
  const float seventh = x[T] / 7;
  store_remote(remote(shared_address(stored) + 4 * T, NEXT), seventh);
  add_remote(remote(here + 4 * T, NEXT), seventh);
  atomicAdd(generic_remote(&sums[T], NEXT), seventh);
  cluster_sync();
  MINE(load_remote(remote(shared_address(stored) + 4 * T, NEXT)) + s[T] + sums[T]);
  cluster_sync();
}
KERNEL(spaces) {
  SHARED
  u32 own, far, cluster;
  s[T] = 0;
  asm volatile("{ .reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 4, 0, p; }" : "=r"(own) : "l"(generic_remote(s, RANK)));
  asm volatile("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 2, 0, p; }" : "=r"(far) : "l"(generic_remote(s, NEXT)));
  asm volatile("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(cluster) : "l"(generic_remote(s, NEXT)));
  MINE(own + far + cluster + s[T]);
}
KERNEL(explicit_cluster) {
  u32 is;
  asm volatile("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(is));
  MINE(is);
}
KERNEL(far_above) {
  SHARED
  const float* at = s;
  asm volatile("" : "+l"(at));
  MINE(at[3 << 22]);
}
extern "C" __global__ void __cluster_dims__(16, 1, 1) sixteen(const float* x, float* out) { MINE(x[T]); }
