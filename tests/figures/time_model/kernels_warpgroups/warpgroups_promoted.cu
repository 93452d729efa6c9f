// SPDX-License-Identifier: Apache-2.0
// Sums that leave the tensor cores every 64, 128 or 512 of k, as products of split numbers need it.
//@ size    M = 4096, N = 2048, K = 2048
//@ check   M = 256, N = 256, K = 512
//@ input   A: float16[M, K]
//@ input   B: float16[N, K]
//@ output  C: float32[M, N]
//@ tune    WIDTH = 64 | 128
//@ tune    EVERY = 1 | 2 | 8
//@ tune    STAGES = 2 | 4
//@ launch  product<<<dim3(N / WIDTH, M / 128), 384, STAGES * (128 + WIDTH) * 128 + 1024>>>(tensor_map(A, axes(K, M), box(64, 128), swizzle(128)), tensor_map(B, axes(K, N), box(64, WIDTH), swizzle(128)), C, N, K)
#include "hopper.cuh"
using namespace hopper;
constexpr int rows = 128, left = rows * 128, slot_bytes = left + WIDTH * 128;

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
      for (int k = 0; k < K; k += 64, ring.next()) {
        const u32 slot = tiles + ring.slot * slot_bytes, bar = full + 8 * ring.slot;
        wait(empty + 8 * ring.slot, ring.parity ^ 1);
        arrive_expect(bar, slot_bytes);
        load_2d(slot, a, bar, k, blockIdx.y * rows);
        load_2d(slot + left, b, bar, k, blockIdx.x * WIDTH);
      }
  } else {
    const u32 half = warpgroup() - 1;
    float sum[WIDTH / 2] = {};
    float d[WIDTH / 2];
    for (int k = 0; k < K; k += 64, ring.next()) {
      const u32 slot = tiles + ring.slot * slot_bytes;
      wait(full + 8 * ring.slot, ring.parity);
      product_fence();
#pragma unroll
      for (int part = 0; part < 4; ++part)
        multiply_f16<0, 0>(d, descriptor(slot + half * 8192 + 32 * part), descriptor(slot + left + 32 * part), k / 64 % EVERY > 0 || part > 0);
      product_commit();
      product_wait<0>();
      hold(d);
      if (k / 64 % EVERY == EVERY - 1) {
#pragma unroll
        for (int i = 0; i < WIDTH / 2; ++i) sum[i] += d[i];
      }
      if (threadIdx.x % 128 == 0) arrive(empty + 8 * ring.slot);
    }
    hold(d);
    store_accumulators(sum, C + (long long)(blockIdx.y * rows + 64 * half) * N + blockIdx.x * WIDTH, N, 64, WIDTH);
  }
}
