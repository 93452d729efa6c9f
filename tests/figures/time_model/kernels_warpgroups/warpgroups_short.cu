// SPDX-License-Identifier: Apache-2.0
// Little depth and many results: rows of sectors, single floats, or boxes by tensor copies.
//@ size    M = 8192, N = 4096, K = 128
//@ check   M = 256, N = 256, K = 64
//@ input   A: bfloat16[M, K]
//@ input   B: bfloat16[N, K]
//@ output  C: float32[M, N]
//@ tune    WIDTH = 64 | 128
//@ tune    STORE = 0 | 1 | 2
//@ tune    GROUPS = 1 | 2
//@ launch  product<<<dim3(N / WIDTH, M / (64 * GROUPS)), 128 * GROUPS + 128, 2 * (64 * GROUPS + WIDTH) * 128 + 64 * GROUPS * WIDTH * 4 + 2048>>>(tensor_map(A, axes(K, M), box(64, 64 * GROUPS), swizzle(128)), tensor_map(B, axes(K, N), box(64, WIDTH), swizzle(128)), tensor_map(C, axes(N, M), box(WIDTH, 64)), C, M, N, K)
#include "hopper.cuh"
using namespace hopper;
constexpr int STAGES = 2, rows = 64 * GROUPS, left = rows * 128, slot_bytes = left + WIDTH * 128;

__global__ __launch_bounds__(128 * GROUPS + 128, 1) void product(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, const __grid_constant__ CUtensorMap c, float* C, int M, int N, int K) {
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
      for (int k = 0; k < K; k += 64, ring.next()) {
        const u32 slot = tiles + ring.slot * slot_bytes, bar = full + 8 * ring.slot;
        wait(empty + 8 * ring.slot, ring.parity ^ 1);
        arrive_expect(bar, slot_bytes);
        load_2d(slot, a, bar, k, blockIdx.y * rows);
        load_2d(slot + left, b, bar, k, blockIdx.x * WIDTH);
      }
  } else {
    const u32 half = warpgroup() - 1;
    float d[WIDTH / 2];
    for (int k = 0; k < K; k += 64, ring.next()) {
      const u32 slot = tiles + ring.slot * slot_bytes;
      wait(full + 8 * ring.slot, ring.parity);
      product_fence();
#pragma unroll
      for (int part = 0; part < 4; ++part) multiply_bf16<0, 0>(d, descriptor(slot + half * 8192 + 32 * part), descriptor(slot + left + 32 * part), k > 0 || part > 0);
      product_commit();
      product_wait<0>();
      if (threadIdx.x % 128 == 0) arrive(empty + 8 * ring.slot);
    }
    hold(d);
    const int row = blockIdx.y * rows + 64 * half, column = blockIdx.x * WIDTH, t = threadIdx.x % 128;
    if (STORE == 0) store_accumulators(d, C + (long long)row * N + column, N, 64, WIDTH);
    if (STORE == 1) {
#pragma unroll
      for (int i = 0; i < WIDTH / 2; ++i) C[(long long)(row + accumulator_row(t, i)) * N + column + accumulator_column(t, i)] = d[i];
    }
    if (STORE == 2) {
      const u32 out = tiles + STAGES * slot_bytes + half * 64 * WIDTH * 4;
      float* const staged = reinterpret_cast<float*>(memory + (out - shared_address(memory)));
#pragma unroll
      for (int i = 0; i < WIDTH / 2; ++i) staged[accumulator_row(t, i) * WIDTH + accumulator_column(t, i)] = d[i];
      fence_stores();
      named_wait(1 + half, 128);
      if (t == 0) store_2d(c, out, column, row), bulk_commit(), bulk_wait<0>();
    }
  }
}
