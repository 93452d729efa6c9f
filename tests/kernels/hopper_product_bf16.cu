// SPDX-License-Identifier: Apache-2.0
// bf16 product: a producing warp copies tiles by tensor maps into a ring, two warpgroups multiply them from shared memory.
//@ torch   C = A @ B.T
//@ size    M = 1024, N = 1024, K = 1024
//@ check   M = 128, N = 128, K = 320
//@ check   M = 200, N = 72, K = 136
//@ input   A: bfloat16[M, K]
//@ input   B: bfloat16[N, K]
//@ output  C: float32[M, N]
//@ launch  product<<<dim3(ceil_div(N, 128), ceil_div(M, 128)), 384, 3 * 32768 + 1024>>>(tensor_map(A, axes(K, M), box(64, 128), swizzle(128)), tensor_map(B, axes(K, N), box(64, 128), swizzle(128)), C, M, N, K)
#include "hopper.cuh"
using namespace hopper;
constexpr int stages = 3, tile = 128 * 64 * 2;

__global__ __launch_bounds__(384, 1) void product(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* C, int M, int N, int K) {
  extern __shared__ char memory[];
  __shared__ __align__(8) u64 barriers[2 * stages];
  const u32 tiles = aligned(shared_address(memory)), full = shared_address(barriers), empty = full + 8 * stages;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) barrier_init(full + 8 * s, 1), barrier_init(empty + 8 * s, 2);
    barrier_init_done();
  }
  __syncthreads();
  const int steps = (K + 63) / 64, row = blockIdx.y * 128, column = blockIdx.x * 128;
  Ring<stages> ring;
  if (warpgroup() == 0) {
    give_registers<40>();
    if (threadIdx.x == 0) {
      prefetch(a), prefetch(b);
      for (int k = 0; k < steps; ++k, ring.next()) {
        wait(empty + 8 * ring.slot, ring.parity ^ 1);
        const u32 slot = tiles + ring.slot * 2 * tile, bar = full + 8 * ring.slot;
        arrive_expect(bar, 2 * tile);
        load_2d(slot, a, bar, 64 * k, row);
        load_2d(slot + tile, b, bar, 64 * k, column);
      }
    }
  } else {
    take_registers<232>();
    const u32 half = warpgroup() - 1;
    float d[64];
    for (int k = 0; k < steps; ++k, ring.next()) {
      wait(full + 8 * ring.slot, ring.parity);
      const u32 slot = tiles + ring.slot * 2 * tile;
      product_fence();
#pragma unroll
      for (int part = 0; part < 4; ++part)
        multiply_bf16<0, 0>(d, descriptor(slot + half * tile / 2 + 32 * part), descriptor(slot + tile + 32 * part), k > 0 || part > 0);
      product_commit();
      product_wait<0>();
      if (threadIdx.x % 128 == 0) arrive(empty + 8 * ring.slot);
    }
    hold(d);
    const int first = row + 64 * half;
    store_accumulators(d, C + (long long)first * N + column, N, M - first, N - column);
  }
}
