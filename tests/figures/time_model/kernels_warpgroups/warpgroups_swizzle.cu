// SPDX-License-Identifier: Apache-2.0
// Halves in tiles of 16, 32 or 64 of k, each swizzled as wide as it is; few and many stages.
//@ size    M = 4096, N = 4096, K = 2048
//@ check   M = 256, N = 256, K = 192
//@ input   A: float16[M, K]
//@ input   B: float16[N, K]
//@ output  C: float32[M, N]
//@ tune    STEP = 16 | 32 | 64
//@ tune    STAGES = 2 | 4 | 6
//@ launch  product<<<dim3(N / 128, M / 128), 384, STAGES * 512 * STEP + 1024>>>(tensor_map(A, axes(K, M), box(STEP, 128), swizzle(2 * STEP)), tensor_map(B, axes(K, N), box(STEP, 128), swizzle(2 * STEP)), C, N, K)
#include "hopper.cuh"
using namespace hopper;
constexpr int WIDTH = 128, rows = 128, span = 2 * STEP, left = rows * span, slot_bytes = 2 * left;

__global__ __launch_bounds__(384, 1) void product(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* C, int N, int K) {
  extern __shared__ char memory[];
  __shared__ __align__(8) u64 barriers[2 * STAGES];
  const u32 tiles = aligned(shared_address(memory)), full = shared_address(barriers), empty = full + 8 * STAGES;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) barrier_init(full + 8 * s, 1), barrier_init(empty + 8 * s, 2);
    barrier_init_done();
  }
  __syncthreads();
  Ring<STAGES> ring;
  if (warpgroup() == 0) {
    if (threadIdx.x == 0)
      for (int k = 0; k < K; k += STEP, ring.next()) {
        const u32 slot = tiles + ring.slot * slot_bytes, bar = full + 8 * ring.slot;
        wait(empty + 8 * ring.slot, ring.parity ^ 1);
        arrive_expect(bar, slot_bytes);
        load_2d(slot, a, bar, k, blockIdx.y * rows);
        load_2d(slot + left, b, bar, k, blockIdx.x * WIDTH);
      }
  } else {
    const u32 half = warpgroup() - 1;
    float d[WIDTH / 2];
    for (int k = 0; k < K; k += STEP, ring.next()) {
      const u32 slot = tiles + ring.slot * slot_bytes;
      wait(full + 8 * ring.slot, ring.parity);
      product_fence();
#pragma unroll
      for (int part = 0; part < STEP / 16; ++part) multiply_f16<0, 0>(d, descriptor(slot + half * left / 2 + 32 * part, span), descriptor(slot + left + 32 * part, span), k > 0 || part > 0);
      product_commit();
      product_wait<0>();
      if (threadIdx.x % 128 == 0) arrive(empty + 8 * ring.slot);
    }
    hold(d);
    store_accumulators(d, C + (long long)(blockIdx.y * rows + 64 * half) * N + blockIdx.x * WIDTH, N, 64, WIDTH);
  }
}
