// SPDX-License-Identifier: Apache-2.0
//$ A product by warpgroups, for compute capability 9.0: one warp copies tiles of both factors into a ring of slots by tensor maps, two
//$ warpgroups multiply them from shared memory, half of a tile each. Persistent blocks walk the tiles.
//$ needs hopper.cuh

__global__ void __launch_bounds__(384, 1) $name$($parameters$) {
  using namespace hopper;
  // A slot holds 128 bytes of depth of each row and column, twice where a factor has two halves: left, then right. Of 128 rows each
  // warpgroup has half, of 64 it has all, and half of the columns.
  constexpr int ROWS = $rows$, COLUMNS = $columns$, OWN = COLUMNS * ROWS / 128, HALVES = $halves$, STEP = $step$, LEFT = ROWS * 128, RIGHT = COLUMNS * 128, SLOT = HALVES * (LEFT + RIGHT), SLOTS = $ring_bytes$ / SLOT;
  extern __shared__ char warpgroup_memory[];
  __shared__ __align__(8) u64 barriers[2 * SLOTS];
  const u32 ring_start = aligned(shared_address(warpgroup_memory)), full = shared_address(barriers), empty = full + 8 * SLOTS;
  if (threadIdx.x == 0) {
    for (int slot = 0; slot < SLOTS; ++slot) barrier_init(full + 8 * slot, 1), barrier_init(empty + 8 * slot, 2);
    barrier_init_done();
  }
  __syncthreads();
  Ring<SLOTS> ring;
  const int tiles = $tiles$;
  if (warpgroup() == 0) {
    give_registers<40>();
    if (threadIdx.x == 0)
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
$locate$
        for (int k = begin; k < end; k += STEP, ring.next()) {
          wait(empty + 8 * ring.slot, ring.parity ^ 1);
          const u32 left = ring_start + ring.slot * SLOT, right = left + HALVES * LEFT, bar = full + 8 * ring.slot;
          arrive_expect(bar, SLOT);
$loads$
        }
      }
  } else {
    take_registers<232>();
    const int half = warpgroup() - 1, own_row = ROWS == 128 ? 64 * half : 0, own_column = ROWS == 128 ? 0 : OWN * half, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    // Results go through shared memory, 16 rows by 32 columns of a warp at a time, so that neighbours are written together.
    float* const staged = reinterpret_cast<float*>(warpgroup_memory + (ring_start - shared_address(warpgroup_memory)) + SLOTS * SLOT) + (half * 4 + warp) * (16 * 40);
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
$locate$
$coordinates$
      float sum[OWN / 2] = {};
      if (HALVES == 1) {
        u32 before = 0;
        for (int k = begin; k < end; k += STEP, ring.next()) {
          wait(full + 8 * ring.slot, ring.parity);
          const u32 left = ring_start + ring.slot * SLOT + own_row * 128, right = ring_start + ring.slot * SLOT + LEFT + own_column * 128;
          product_fence();
#pragma unroll
          for (int part = 0; part < 4; ++part) $multiply$(sum, $left_part$, $right_part$, 1);
          product_commit();
          product_wait<1>();
          if (k > begin && threadIdx.x % 128 == 0) arrive(empty + 8 * before);
          before = ring.slot;
        }
        product_wait<0>();
        if (begin < end && threadIdx.x % 128 == 0) arrive(empty + 8 * before);
      } else {
        // Sums of the large product leave the tensor cores every 64 of depth: those cut what they add. The corrections, 2^11 times too
        // large, are so small that they may stay.
        float large[OWN / 2], corrections[OWN / 2] = {};
        for (int k = begin; k < end; k += STEP, ring.next()) {
          wait(full + 8 * ring.slot, ring.parity);
          const u32 left_high = ring_start + ring.slot * SLOT + own_row * 128, right_high = ring_start + ring.slot * SLOT + HALVES * LEFT + own_column * 128;
          product_fence();
#pragma unroll
          for (int which = 0; which < 3; ++which) {
            const u32 left = which == 1 ? left_high + LEFT : left_high, right = which == 0 ? right_high + RIGHT : right_high;
#pragma unroll
            for (int part = 0; part < 4; ++part) $multiply$(which < 2 ? corrections : large, $left_part$, $right_part$, which < 2 || part > 0);
          }
          product_commit();
          product_wait<0>();
          hold(large);
          if (threadIdx.x % 128 == 0) arrive(empty + 8 * ring.slot);
#pragma unroll
          for (int i = 0; i < OWN / 2; ++i) sum[i] += large[i];
        }
        hold(corrections);
#pragma unroll
        for (int i = 0; i < OWN / 2; ++i) sum[i] += corrections[i] * 0x1p-11f;
      }
//$ with warpgroup_results.cuh; first_column = column_start + own_column; place =; outside = row >= $N$ || column >= $M$
    }
  }
}
