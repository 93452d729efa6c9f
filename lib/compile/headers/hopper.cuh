// SPDX-License-Identifier: Apache-2.0
// Device functions for compute capability 9.0: barriers, bulk and tensor copies, warpgroup products, epilogues.
// Addresses of shared memory are 32-bit numbers, as shared_address gives them.
#pragma once

#include <cuda.h>

#include "hopper_multiply.cuh"

namespace hopper {

using u32 = unsigned int;
using u64 = unsigned long long;

// The address of an object in shared memory, as every function here takes it.
__device__ __forceinline__ u32 shared_address(const void* object) { return static_cast<u32>(__cvta_generic_to_shared(object)); }

// Rounds an address in shared memory up; tiles with a swizzle of 128 bytes begin at a multiple of 1024.
__device__ __forceinline__ u32 aligned(u32 address, u32 alignment = 1024) { return (address + alignment - 1) & ~(alignment - 1); }

// ---- Roles

// True in one lane of the warp, always the same one; all lanes call it.
__device__ __forceinline__ bool elected() {
  u32 chosen;
  asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p;}" : "=r"(chosen));
  return chosen != 0;
}

// The warpgroup of this thread, the same for all its 128 threads; one-dimensional blocks.
__device__ __forceinline__ u32 warpgroup() { return __shfl_sync(0xffffffff, threadIdx.x / 128, 0); }

// Gives registers back to other warpgroups (a producer's first step), N = 24 to 232 in steps of 8; the kernel needs __launch_bounds__(threads, 1).
template <int N>
__device__ __forceinline__ void give_registers() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N)); }

// Takes registers that others gave back (a consumer's first step): up to N for each thread.
template <int N>
__device__ __forceinline__ void take_registers() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N)); }

// ---- Barriers in shared memory (8 bytes, aligned to 8)

// One thread initialises a barrier for `arrivals` arrivals a phase; then barrier_init_done() and __syncthreads().
__device__ __forceinline__ void barrier_init(u32 barrier, u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// Makes initialised barriers visible to copies; after the last barrier_init, before __syncthreads().
__device__ __forceinline__ void barrier_init_done() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

// One arrival.
__device__ __forceinline__ void arrive(u32 barrier) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// One arrival that also makes the phase wait for `bytes` of copies.
__device__ __forceinline__ void arrive_expect(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

// The phase waits for `bytes` more of copies; no arrival.
__device__ __forceinline__ void expect(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

// Whether the phase of this parity is over; may wait a little. The first phase has parity 0.
__device__ __forceinline__ bool try_wait(u32 barrier, u32 parity) {
  u32 done;
  asm volatile("{.reg .pred p; mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
               : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
  return done != 0;
}

// Waits until the phase of this parity is over. A fresh barrier passes wait(barrier, 1): so begin producers on empty slots.
__device__ __forceinline__ void wait(u32 barrier, u32 parity) {
  while (!try_wait(barrier, parity)) {}
}

// A place in a ring of slots: slot and parity, advanced together.
template <int slots>
struct Ring {
  u32 slot = 0, parity = 0;
  __device__ __forceinline__ void next() {
    if (++slot == slots) slot = 0, parity ^= 1;
  }
};

// Barrier 1 to 15 among `threads` threads (a multiple of 32): waits for all of them.
__device__ __forceinline__ void named_wait(u32 id, u32 threads) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }

// The same, without waiting.
__device__ __forceinline__ void named_arrive(u32 id, u32 threads) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory"); }

// ---- Order

// Each thread runs it after its ordinary stores to shared memory and before the barrier, if wgmma or a bulk copy reads them next.
__device__ __forceinline__ void fence_stores() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// ---- Copies; one thread calls them

// `bytes` (a multiple of 16) from global to shared memory, counted by the barrier; both addresses are multiples of 16.
__device__ __forceinline__ void bulk_load(u32 to, const void* from, u32 bytes, u32 barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(to), "l"(from), "r"(bytes), "r"(barrier) : "memory");
}

// `bytes` from shared to global memory; then bulk_commit and bulk_wait before the shared memory is written again.
__device__ __forceinline__ void bulk_store(void* to, u32 from, u32 bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes) : "memory");
}

// Adds `bytes` of floats from shared to global memory, atomically; then bulk_commit and bulk_wait as for bulk_store.
__device__ __forceinline__ void bulk_add(float* to, u32 from, u32 bytes) {
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes) : "memory");
}

// Closes a group of this thread's bulk and tensor stores.
__device__ __forceinline__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Waits until all but the newest N groups have read their shared memory.
template <int N>
__device__ __forceinline__ void bulk_wait_read() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory"); }

// Waits until all but the newest N groups are done.
template <int N>
__device__ __forceinline__ void bulk_wait() { asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory"); }

// Brings a tensor map near, at a kernel's start.
__device__ __forceinline__ void prefetch(const CUtensorMap& map) { asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory"); }

// The map's box at (x, …) to shared memory (a multiple of 128, of 1024 with swizzle(128)); x counts the innermost axis. What lies
// outside the tensor becomes 0, and counts as copied.
__device__ __forceinline__ void load_1d(u32 to, const CUtensorMap& map, u32 barrier, int x) {
  asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3}], [%2];"
               ::"r"(to), "l"(&map), "r"(barrier), "r"(x) : "memory");
}
__device__ __forceinline__ void load_2d(u32 to, const CUtensorMap& map, u32 barrier, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];"
               ::"r"(to), "l"(&map), "r"(barrier), "r"(x), "r"(y) : "memory");
}
__device__ __forceinline__ void load_3d(u32 to, const CUtensorMap& map, u32 barrier, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];"
               ::"r"(to), "l"(&map), "r"(barrier), "r"(x), "r"(y), "r"(z) : "memory");
}
__device__ __forceinline__ void load_4d(u32 to, const CUtensorMap& map, u32 barrier, int x, int y, int z, int w) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], [%2];"
               ::"r"(to), "l"(&map), "r"(barrier), "r"(x), "r"(y), "r"(z), "r"(w) : "memory");
}
__device__ __forceinline__ void load_5d(u32 to, const CUtensorMap& map, u32 barrier, int x, int y, int z, int w, int v) {
  asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6, %7}], [%2];"
               ::"r"(to), "l"(&map), "r"(barrier), "r"(x), "r"(y), "r"(z), "r"(w), "r"(v) : "memory");
}

// A box from shared memory to the tensor; what lies outside it is left out. Then bulk_commit and bulk_wait.
__device__ __forceinline__ void store_2d(const CUtensorMap& map, u32 from, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map), "r"(from), "r"(x), "r"(y) : "memory");
}
__device__ __forceinline__ void store_3d(const CUtensorMap& map, u32 from, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&map), "r"(from), "r"(x), "r"(y), "r"(z) : "memory");
}

// As store_2d, adding to what is there.
__device__ __forceinline__ void add_2d(const CUtensorMap& map, u32 from, int x, int y) {
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map), "r"(from), "r"(x), "r"(y) : "memory");
}

// ---- Clusters: blocks that run together, launched with cluster(x, y, z), and reach each other's shared memory

// This block's rank in its cluster, from 0, and how many blocks the cluster has.
__device__ __forceinline__ u32 cluster_rank() {
  u32 rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline__ u32 cluster_blocks() {
  u32 count;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(count));
  return count;
}

// Every thread of the cluster arrives once, and later waits for all others; what was written before the arrivals is visible after the
// wait. Blocks run both before they first use each other's shared memory, and after they last did.
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
__device__ __forceinline__ void cluster_sync() { cluster_arrive(), cluster_wait(); }

// Where the block of rank `rank` has what lies at `address` here; for the functions below and for barriers of arrive_remote.
__device__ __forceinline__ u32 remote(u32 address, u32 rank) {
  u32 there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}

// Four bytes, or sixteen, of another block's shared memory; its writes come first, through cluster_sync or a barrier.
__device__ __forceinline__ float load_remote(u32 address) {
  float value;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
  return value;
}
__device__ __forceinline__ float4 load_remote4(u32 address) {
  float4 v;
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(address) : "memory");
  return v;
}
__device__ __forceinline__ void store_remote(u32 address, float value) { asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory"); }

// Adds to a number in another block's shared memory, atomically.
__device__ __forceinline__ void add_remote(u32 address, float value) { asm volatile("red.shared::cluster.add.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory"); }
__device__ __forceinline__ void add_remote(u32 address, u32 value) { asm volatile("red.shared::cluster.add.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory"); }

// One arrival at another block's barrier: remote(barrier, rank).
__device__ __forceinline__ void arrive_remote(u32 barrier) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// As wait, for a barrier at which threads of other blocks arrive.
__device__ __forceinline__ void wait_cluster(u32 barrier, u32 parity) {
  u32 done;
  do {
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                 : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
  } while (done == 0);
}

// As bulk_load and load_2d, to the same place in every block whose bit is set in `ranks`; each one's barrier at the same place counts the
// bytes, so each block expects them.
__device__ __forceinline__ void bulk_load_multicast(u32 to, const void* from, u32 bytes, u32 barrier, unsigned short ranks) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;"
               ::"r"(to), "l"(from), "r"(bytes), "r"(barrier), "h"(ranks) : "memory");
}
__device__ __forceinline__ void load_2d_multicast(u32 to, const CUtensorMap& map, u32 barrier, int x, int y, unsigned short ranks) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;"
               ::"r"(to), "l"(&map), "r"(barrier), "r"(x), "r"(y), "h"(ranks) : "memory");
}

// `bytes` of this block's shared memory to another block's: remote(to, rank), remote(barrier, rank).
__device__ __forceinline__ void bulk_send(u32 to, u32 from, u32 bytes, u32 barrier) {
  asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(to), "r"(from), "r"(bytes), "r"(barrier) : "memory");
}

// ---- Products of a warpgroup: multiply_f16, multiply_bf16, multiply_tf32 and multiply_e4m3 of hopper_multiply.cuh, and what goes with them

// Where byte `column` of row `row` lies in a tile whose rows have `span` bytes (128, 64 or 32) and that swizzle.
__device__ __forceinline__ u32 swizzled(u32 row, u32 column, u32 span = 128) {
  const u32 offset = row * span + column;
  return offset ^ ((offset >> 7 & (span / 16 - 1)) << 4);
}

// A tile with k innermost, its rows `span` bytes long and swizzled so: rows 8 apart are 8·span bytes apart. Further along k by
// 16 halves or 8 floats: 32 bytes more in `tile`.
__device__ __forceinline__ u64 descriptor(u32 tile, u32 span = 128) {
  const u64 mode = span == 128 ? 1 : span == 64 ? 2 : 3;
  return static_cast<u64>((tile & 0x3ffff) >> 4) | u64{1} << 16 | static_cast<u64>(8 * span >> 4) << 32 | mode << 62;
}

// A tile without swizzle: 8 rows of 16 bytes lie together; `along_k` and `along_rows` bytes to the next such piece.
__device__ __forceinline__ u64 plain_descriptor(u32 tile, u32 along_k, u32 along_rows) {
  return static_cast<u64>((tile & 0x3ffff) >> 4) | static_cast<u64>(along_k >> 4) << 16 | static_cast<u64>(along_rows >> 4) << 32;
}

// A tile of 16-bit elements with k outermost (B row-major, A column-major), rows of 64 elements swizzled by 128 bytes: `along` bytes
// to the next 64 columns, 1024 to the next 8 of k. Use with transposed products; further along k by 16: 2048 bytes more in `tile`.
__device__ __forceinline__ u64 transposed_descriptor(u32 tile, u32 along) {
  return static_cast<u64>((tile & 0x3ffff) >> 4) | static_cast<u64>(along >> 4) << 16 | static_cast<u64>(1024 >> 4) << 32 | u64{1} << 62;
}

// Before the first product, and after ordinary code touched accumulators or A's registers.
__device__ __forceinline__ void product_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

// Closes a group of products.
__device__ __forceinline__ void product_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

// Waits until all but the newest N groups are done; only then may accumulators be read and tiles be overwritten.
template <int N>
__device__ __forceinline__ void product_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }

// Keeps the compiler from moving reads of accumulators across the calls around it.
template <int count>
__device__ __forceinline__ void hold(float (&d)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

// Row (0 to 63) and column of accumulator `i` of thread `t` (0 to 127) of the warpgroup.
__device__ __forceinline__ int accumulator_row(int t, int i) { return t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8; }
__device__ __forceinline__ int accumulator_column(int t, int i) { return i / 4 * 8 + t % 4 * 2 + i % 2; }

// ---- Epilogue

// Four 8 × 8 matrices of halves to shared memory: lane l gives the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void store_matrices(u32 row, u32 a, u32 b, u32 c, u32 d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}

// Two floats as halves, or as bfloat16, in one register; the first in the low bits.
__device__ __forceinline__ u32 halves(float low, float high) {
  u32 packed;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}
__device__ __forceinline__ u32 bfloats(float low, float high) {
  u32 packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

// Accumulators of one warpgroup to a row-major matrix, two neighbours at a time (columns is even), rows and columns beyond the matrix
// left out. `c` is the tile's corner.
template <int count>
__device__ __forceinline__ void store_accumulators(const float (&d)[count], float* c, long long row_elements, int rows, int columns) {
  const int t = threadIdx.x % 128;
#pragma unroll
  for (int i = 0; i < count; i += 2) {
    const int row = accumulator_row(t, i), column = accumulator_column(t, i);
    if (row < rows && column < columns) *reinterpret_cast<float2*>(c + row * row_elements + column) = make_float2(d[i], d[i + 1]);
  }
}

}  // namespace hopper
