// SPDX-License-Identifier: Apache-2.0
// A TF32 product, A from shared memory or from registers.
//@ size    M = 4096, N = 4096, K = 1024
//@ check   M = 256, N = 512, K = 96
//@ input   A: float32[M, K]
//@ input   B: float32[N, K]
//@ output  C: float32[M, N]
//@ tune    WIDTH = 64 | 128 | 256
//@ tune    REGISTERS = 0 | 1
//@ tune    GROUPS = 1 | 2 if WIDTH * REGISTERS * GROUPS < 512
//@ launch  product<<<dim3(N / WIDTH, M / (64 * GROUPS)), 128 * GROUPS + 128, 3 * (64 * GROUPS + WIDTH) * 128 + 1024>>>(tensor_map(A, axes(K, M), box(32, 64 * GROUPS), swizzle(128), type(tf32)), tensor_map(B, axes(K, N), box(32, WIDTH), swizzle(128), type(tf32)), C, N, K)
#include "hopper.cuh"
using namespace hopper;
constexpr int STAGES = 3;
constexpr int rows = 64 * GROUPS, left = rows * 128, slot_bytes = left + WIDTH * 128;

__global__ __launch_bounds__(128 * GROUPS + 128, 1) void product(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* C, int N, int K) {
  extern __shared__ char memory[];
  __shared__ __align__(8) u64 barriers[2 * STAGES];
  const u32 tiles = aligned(shared_address(memory)), full = shared_address(barriers), empty = full + 8 * STAGES;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) barrier_init(full + 8 * s, 1), barrier_init(empty + 8 * s, GROUPS);
    barrier_init_done();
  }
  __syncthreads();
  Ring<STAGES> ring;
  if (warpgroup() == 0) {
    if (threadIdx.x == 0)
      for (int k = 0; k < K; k += 32, ring.next()) {
        const u32 slot = tiles + ring.slot * slot_bytes, bar = full + 8 * ring.slot;
        wait(empty + 8 * ring.slot, ring.parity ^ 1);
        arrive_expect(bar, slot_bytes);
        load_2d(slot, a, bar, k, blockIdx.y * rows);
        load_2d(slot + left, b, bar, k, blockIdx.x * WIDTH);
      }
  } else {
    const u32 half = warpgroup() - 1;
    float d[WIDTH / 2];
    for (int k = 0; k < K; k += 32, ring.next()) {
      const u32 slot = tiles + ring.slot * slot_bytes;
      wait(full + 8 * ring.slot, ring.parity);
      const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
      u32 f[4][4];
      if (REGISTERS) {
        const char* const bytes = memory + (slot + half * 8192 - shared_address(memory));
#pragma unroll
        for (int part = 0; part < 4; ++part)
#pragma unroll
          for (int r = 0; r < 4; ++r) f[part][r] = *reinterpret_cast<const u32*>(bytes + swizzled(16 * warp + lane / 4 + r % 2 * 8, 4 * (8 * part + lane % 4 + r / 2 * 4)));
      }
      product_fence();
#pragma unroll
      for (int part = 0; part < 4; ++part)
        if constexpr (REGISTERS) multiply_tf32(d, f[part], descriptor(slot + left + 32 * part), k > 0 || part > 0);
        else multiply_tf32(d, descriptor(slot + half * 8192 + 32 * part), descriptor(slot + left + 32 * part), k > 0 || part > 0);
      product_commit();
      product_wait<0>();
      hold(d);
      if (threadIdx.x % 128 == 0) arrive(empty + 8 * ring.slot);
    }
    hold(d);
    store_accumulators(d, C + (long long)(blockIdx.y * rows + 64 * half) * N + blockIdx.x * WIDTH, N, 64, WIDTH);
  }
}
