// SPDX-License-Identifier: Apache-2.0
//$ A convolution by warpgroups, for compute capability 9.0. A window holds the inputs of a tile's places and what lies between and around them,
//$ a line of channels each, once for all taps: a tap multiplies the window from another place on. Places that are none are multiplied, too.
//$ needs hopper.cuh

__global__ void __launch_bounds__(384, 1) $name$($parameters$) {
  using namespace hopper;
  constexpr int ROWS = $rows$, COLUMNS = $columns$, HALVES = $halves$, SPAN = $span$, PLACES = $places$, COPIED = $copied$, LEFT = ROWS * SPAN, WINDOW = PLACES * SPAN;
  constexpr int WINDOWS = $windows$, SLOTS = $slots$;
  // Warpgroups take tiles in turns, so that one writes while the other multiplies. Where sums leave the tensor cores they share a tile: of 128
  // rows each has half, of 64 it has all, and half of the columns. Each warp says when it is done with a slot: its wait is for its own products.
  constexpr bool TURNS = HALVES == 1;
  constexpr int OWN = TURNS ? COLUMNS : COLUMNS * ROWS / 128;
  extern __shared__ char warpgroup_memory[];
  __shared__ __align__(8) u64 barriers[2 * SLOTS + 2 * WINDOWS];
  const u32 ring_start = aligned(shared_address(warpgroup_memory)), weights_start = ring_start + WINDOWS * HALVES * WINDOW;
  const u32 full = shared_address(barriers), empty = full + 8 * SLOTS, inputs_full = empty + 8 * SLOTS, inputs_empty = inputs_full + 8 * WINDOWS;
  char* const ring_memory = warpgroup_memory + (ring_start - shared_address(warpgroup_memory));
  if (threadIdx.x == 0) {
    for (int slot = 0; slot < SLOTS; ++slot) barrier_init(full + 8 * slot, 1), barrier_init(empty + 8 * slot, TURNS ? 4 : 8);
    for (int slot = 0; slot < WINDOWS; ++slot) barrier_init(inputs_full + 8 * slot, 1), barrier_init(inputs_empty + 8 * slot, TURNS ? 4 : 8);
    barrier_init_done();
  }
  // What no copy reaches is multiplied for places that are none.
  for (int i = threadIdx.x * 16; i < WINDOWS * HALVES * WINDOW; i += 384 * 16)
    if (i % WINDOW >= COPIED * SPAN) *reinterpret_cast<uint4*>(ring_memory + i) = make_uint4(0, 0, 0, 0);
  fence_stores();
  __syncthreads();
  Ring<SLOTS> ring;
  Ring<WINDOWS> windows;
  const int tiles = $tiles$;
  // A block that meets the same taps in all of its tiles keeps their weights.
  const bool kept = $kept$;
  if (warpgroup() == 0) {
    give_registers<40>();
    if (threadIdx.x == 0)
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
$locate$
        for (int step = 0; step < steps; ++step) {
$window$
          if (TH * TW == 0) continue;
          wait(inputs_empty + 8 * windows.slot, windows.parity ^ 1);
          const u32 right = ring_start + windows.slot * (HALVES * WINDOW), bar = inputs_full + 8 * windows.slot;
          arrive_expect(bar, HALVES * COPIED * SPAN);
$load_inputs$
          windows.next();
          for (int tap = 0; tap < TH * TW && !(kept && tile != blockIdx.x); ++tap, ring.next()) {
            wait(empty + 8 * ring.slot, ring.parity ^ 1);
            const u32 left = weights_start + ring.slot * (HALVES * LEFT), bar = full + 8 * ring.slot;
            arrive_expect(bar, HALVES * LEFT);
$load_weights$
          }
        }
      }
  } else {
    take_registers<232>();
    const int half = warpgroup() - 1, own_row = !TURNS && ROWS == 128 ? 64 * half : 0, own_column = !TURNS && ROWS == 64 ? OWN * half : 0, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    // Results go through shared memory, 16 rows by 32 columns of a warp at a time, so that neighbours are written together.
    float* const staged = reinterpret_cast<float*>(ring_memory + $ring_bytes$) + (half * 4 + warp) * (16 * 40);
    // The first turn is the first warpgroup's.
    if (TURNS && half == 1) named_arrive(1, 256);
    for (int tile = blockIdx.x, turn = 0; tile < tiles; tile += gridDim.x, turn ^= 1) {
$locate$
      if (TURNS && turn != half) {
        for (int step = 0; step < steps; ++step) {
$window$
          if (TH * TW > 0) windows.next();
          for (int tap = 0; !kept && tap < TH * TW; ++tap) ring.next();
        }
        continue;
      }
      if (kept) ring = {};
      // A barrier tells a phase from the next one only: so a warpgroup begins when the other one has met all that comes before.
      if (TURNS) named_wait(1 + half, 256);
      float sum[OWN / 2] = {}, corrections[OWN / 2] = {};
      u32 before = 0, before_window = 0;
      for (int step = 0; step < steps; ++step) {
$window$
        if (TH * TW == 0) continue;
        wait(inputs_full + 8 * windows.slot, windows.parity);
        const u32 inputs = ring_start + windows.slot * (HALVES * WINDOW) + own_column * SPAN, done = inputs_empty + 8 * windows.slot;
        for (int tap = 0; tap < TH * TW; ++tap, ring.next()) {
          wait(full + 8 * ring.slot, ring.parity);
          const u32 left_high = weights_start + ring.slot * (HALVES * LEFT) + own_row * SPAN, right_high = inputs + (tap / TW * ($step_h$ * $pitch$) + tap % TW * $step_w$) * SPAN;
          product_fence();
          if (HALVES == 1) {
#pragma unroll
            for (int part = 0; part < SPAN / 32; ++part) multiply_f16<0, 0>(sum, descriptor(left_high + 32 * part, SPAN), descriptor(right_high + 32 * part, SPAN), 1);
            product_commit();
            product_wait<1>();
            if (!kept && before != 0 && lane == 0) arrive(before);
            if (before_window != 0 && lane == 0) arrive(before_window);
            before = empty + 8 * ring.slot, before_window = tap + 1 == TH * TW ? done : 0;
          } else {
            // Sums of the large product leave the tensor cores after each tap: those cut what they add. The corrections, 2^11 times too large,
            // are so small that they may stay.
            float large[OWN / 2];
#pragma unroll
            for (int which = 0; which < 3; ++which) {
              const u32 left = which == 1 ? left_high + LEFT : left_high, right = which == 0 ? right_high + WINDOW : right_high;
#pragma unroll
              for (int part = 0; part < SPAN / 32; ++part)
                multiply_f16<0, 0>(which < 2 ? corrections : large, descriptor(left + 32 * part, SPAN), descriptor(right + 32 * part, SPAN), which < 2 || part > 0);
            }
            product_commit();
            product_wait<0>();
            hold(large);
            if (!kept && lane == 0) arrive(empty + 8 * ring.slot);
            if (tap + 1 == TH * TW && lane == 0) arrive(done);
#pragma unroll
            for (int i = 0; i < OWN / 2; ++i) sum[i] += large[i];
          }
        }
        windows.next();
      }
      if (TURNS && tile + gridDim.x < tiles) named_arrive(2 - half, 256);
      if (HALVES == 1) {
        product_wait<0>();
        if (!kept && before != 0 && lane == 0) arrive(before);
        if (before_window != 0 && lane == 0) arrive(before_window);
      } else {
        hold(corrections);
#pragma unroll
        for (int i = 0; i < OWN / 2; ++i) sum[i] += corrections[i] * 0x1p-11f;
      }
//$ with warpgroup_results.cuh; first_column = own_column; outside = row >= $O$ || !there
    }
  }
}
