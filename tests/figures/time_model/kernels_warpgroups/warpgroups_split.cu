// SPDX-License-Identifier: Apache-2.0
// A product of few columns whose depth several blocks share; their sums meet by atomics.
//@ size    M = 4096, N = 64, K = 8192
//@ check   M = 128, N = 64, K = 1024
//@ input   A: bfloat16[M, K]
//@ input   B: bfloat16[N, K]
//@ output  C: float32[M, N]
//@ memset  C = 0
//@ tune    WIDTH = 8 | 16 | 32 | 64
//@ tune    SPLIT = 1 | 4 | 16
//@ launch  product<<<dim3(N / WIDTH, M / 64, SPLIT), 256, 4 * (64 + WIDTH) * 128 + 1024>>>(tensor_map(A, axes(K, M), box(64, 64), swizzle(128)), tensor_map(B, axes(K, N), box(64, WIDTH), swizzle(128)), C, N, K)
#include "hopper.cuh"
using namespace hopper;
constexpr int STAGES = 4, rows = 64, left = rows * 128, slot_bytes = left + WIDTH * 128;

__global__ __launch_bounds__(256, 1) void product(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* C, int N, int K) {
  extern __shared__ char memory[];
  __shared__ __align__(8) u64 barriers[2 * STAGES];
  const u32 tiles = aligned(shared_address(memory)), full = shared_address(barriers), empty = full + 8 * STAGES;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) barrier_init(full + 8 * s, 1), barrier_init(empty + 8 * s, 1);
    barrier_init_done();
  }
  __syncthreads();
  Ring<STAGES> ring;
  const int first = blockIdx.z * (K / SPLIT), last = first + K / SPLIT;
  if (warpgroup() == 0) {
    if (threadIdx.x == 0)
      for (int k = first; k < last; k += 64, ring.next()) {
        const u32 slot = tiles + ring.slot * slot_bytes, bar = full + 8 * ring.slot;
        wait(empty + 8 * ring.slot, ring.parity ^ 1);
        arrive_expect(bar, slot_bytes);
        load_2d(slot, a, bar, k, blockIdx.y * rows);
        load_2d(slot + left, b, bar, k, blockIdx.x * WIDTH);
      }
  } else {
    const u32 half = warpgroup() - 1;
    float d[WIDTH / 2];
    for (int k = first; k < last; k += 64, ring.next()) {
      const u32 slot = tiles + ring.slot * slot_bytes;
      wait(full + 8 * ring.slot, ring.parity);
      product_fence();
#pragma unroll
      for (int part = 0; part < 4; ++part) multiply_bf16<0, 0>(d, descriptor(slot + half * 8192 + 32 * part), descriptor(slot + left + 32 * part), k > first || part > 0);
      product_commit();
      product_wait<0>();
      if (threadIdx.x % 128 == 0) arrive(empty + 8 * ring.slot);
    }
    hold(d);
    const int t = threadIdx.x % 128;
#pragma unroll
    for (int i = 0; i < WIDTH / 2; ++i) atomicAdd(C + (long long)(blockIdx.y * 64 + accumulator_row(t, i)) * N + blockIdx.x * WIDTH + accumulator_column(t, i), d[i]);
  }
}
