// SPDX-License-Identifier: Apache-2.0
// One block or half of one for each multiprocessor takes tiles in turns, along rows or in strips.
//@ size    M = 4096, N = 4096, K = 1024
//@ check   M = 256, N = 512, K = 192
//@ input   A: bfloat16[M, K]
//@ input   B: bfloat16[N, K]
//@ output  C: float32[M, N]
//@ tune    WIDTH = 64 | 128 | 256
//@ tune    BLOCKS = 66 | 132
//@ tune    STRIP = 1 | 8
//@ launch  product<<<BLOCKS, 384, 3 * (128 + WIDTH) * 128 + 1024>>>(tensor_map(A, axes(K, M), box(64, 128), swizzle(128)), tensor_map(B, axes(K, N), box(64, WIDTH), swizzle(128)), C, M, N, K)
#include "hopper.cuh"
using namespace hopper;
constexpr int STAGES = 3, rows = 128, left = rows * 128, slot_bytes = left + WIDTH * 128;
// The tile's row and column: strips of STRIP rows, down before across.
__device__ void place(int tile, int down, int across, int& row, int& column) {
  const int high = min(STRIP, down), strip = tile / (high * across), rest = tile % (high * across);
  row = (strip * high + rest % high) * rows, column = rest / high * WIDTH;
}

__global__ __launch_bounds__(384, 1) void product(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* C, int M, int N, int K) {
  extern __shared__ char memory[];
  __shared__ __align__(8) u64 barriers[2 * STAGES];
  const u32 tiles = aligned(shared_address(memory)), full = shared_address(barriers), empty = full + 8 * STAGES;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) barrier_init(full + 8 * s, 1), barrier_init(empty + 8 * s, 2);
    barrier_init_done();
  }
  __syncthreads();
  Ring<STAGES> ring;
  const int all = M / rows * (N / WIDTH);
  if (warpgroup() == 0) {
    if (threadIdx.x == 0)
      for (int tile = blockIdx.x; tile < all; tile += gridDim.x) {
        int row, column;
        place(tile, M / rows, N / WIDTH, row, column);
        for (int k = 0; k < K; k += 64, ring.next()) {
          const u32 slot = tiles + ring.slot * slot_bytes, bar = full + 8 * ring.slot;
          wait(empty + 8 * ring.slot, ring.parity ^ 1);
          arrive_expect(bar, slot_bytes);
          load_2d(slot, a, bar, k, row);
          load_2d(slot + left, b, bar, k, column);
        }
      }
  } else {
    const u32 half = warpgroup() - 1;
    for (int tile = blockIdx.x; tile < all; tile += gridDim.x) {
      int row, column;
      place(tile, M / rows, N / WIDTH, row, column);
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
      store_accumulators(d, C + (long long)(row + 64 * half) * N + column, N, 64, WIDTH);
    }
  }
}
