// SPDX-License-Identifier: Apache-2.0
//$ A product of float32 factors by warpgroups that takes the right factor as it lies in memory: its lines are the rows of the tensor
//$ cores, from registers, and those of the left factor, which a kernel has prepared, are the columns. No range of halves limits it.
//$ needs hopper.cuh tf32_rounding.cuh

__global__ void __launch_bounds__(384, 1) $name$($parameters$) {
  using namespace hopper;
  // A slot holds 32 of depth: the left factor's rows, twice where they have two parts, then the right factor's columns, 32 of them to a piece
  // with a line of 128 bytes for each depth.
  constexpr int ROWS = $rows$, COLUMNS = $columns$, OWN = COLUMNS / 128, HALVES = $halves$, STEP = 32, LEFT = ROWS * 128, RIGHT = COLUMNS * 128, SLOT = HALVES * LEFT + RIGHT, SLOTS = $ring_bytes$ / SLOT;
  extern __shared__ char warpgroup_memory[];
  __shared__ __align__(8) u64 barriers[2 * SLOTS];
  const u32 ring_start = aligned(shared_address(warpgroup_memory)), full = shared_address(barriers), empty = full + 8 * SLOTS;
  char* const ring_memory = warpgroup_memory + (ring_start - shared_address(warpgroup_memory));
  if (threadIdx.x == 0) {
    for (int slot = 0; slot < SLOTS; ++slot) barrier_init(full + 8 * slot, 129), barrier_init(empty + 8 * slot, 8);
    barrier_init_done();
  }
  __syncthreads();
  Ring<SLOTS> ring;
  const int down = ($N$ + ROWS - 1) / ROWS, across = ($M$ + COLUMNS - 1) / COLUMNS, tiles = down * across * $batches$;
  const bool whole = $M$ % 4 == 0;
  if (warpgroup() == 0) {
    give_registers<64>();
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      const int row_start = tile % down * ROWS, column_start = tile / down % across * COLUMNS, batch = tile / down / across;
      const float* const from = $from$$B$;
      for (int k = 0; k < $K$; k += STEP, ring.next()) {
        wait(empty + 8 * ring.slot, ring.parity ^ 1);
        const u32 left = ring_start + ring.slot * SLOT, right = left + HALVES * LEFT, bar = full + 8 * ring.slot;
        if (threadIdx.x == 0) {
          arrive_expect(bar, HALVES * LEFT);
          load_2d(left, $left_map$, bar, k, row_start);
          if (HALVES > 1) load_2d(left + LEFT, $left_low_map$, bar, k, row_start);
        }
#pragma unroll
        for (int i = threadIdx.x; i < COLUMNS * STEP / 4; i += 128) {
          const int at = i % (COLUMNS / 4) * 4, depth = i / (COLUMNS / 4), column = column_start + at;
          const u32 to = right + at / 32 * 4096 + swizzled(depth, at % 32 * 4);
          const bool deep = k + depth < $K$;
          const float* const line = from + size_t(k + depth) * $M$ + column;
          if (whole) {
            const bool inside = deep && column < $M$;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(inside ? line : from), "r"(inside ? 16 : 0));
          } else {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
              const bool inside = deep && column + j < $M$;
              asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to + 4 * j), "l"(inside ? line + j : from), "r"(inside ? 4 : 0));
            }
          }
        }
        asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(bar) : "memory");
      }
    }
  } else {
    take_registers<216>();
    const int half = warpgroup() - 1, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    // Results go through shared memory, 32 rows by 16 columns of a warp at a time, so that neighbours are written together.
    float* const staged = reinterpret_cast<float*>(ring_memory + SLOTS * SLOT) + (half * 4 + warp) * (32 * 20);
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      const int row_start = tile % down * ROWS, column_start = tile / down % across * COLUMNS, batch = tile / down / across;
$coordinates$
      float sum[OWN][ROWS / 2] = {};
      for (int k = 0; k < $K$; k += STEP, ring.next()) {
        wait(full + 8 * ring.slot, ring.parity);
        const u32 left = ring_start + ring.slot * SLOT;
        const char* const right = ring_memory + ring.slot * SLOT + HALVES * LEFT;
        u32 high[OWN][4][4], low[HALVES > 1 ? OWN : 1][4][4];
#pragma unroll
        for (int i = 0; i < OWN * 16; ++i) {
          const int own = i / 16, part = i / 4 % 4, at = (OWN * half + own) * 64 + warp * 16 + lane / 4 + i % 2 * 8;
          const float x = *reinterpret_cast<const float*>(right + at / 32 * 4096 + swizzled(part * 8 + lane % 4 * 2 + i / 2 % 2, at % 32 * 4));
          const float rounded = rounded_to_tf32(x);
          high[own][part][i % 4] = __float_as_uint(rounded);
          if (HALVES > 1) low[own][part][i % 4] = __float_as_uint(rounded_to_tf32(x - rounded));
        }
        // The corrections first: the tensor cores cut what they add, and less of a small sum. Sums leave them every 32 of depth.
        float large[OWN][ROWS / 2];
        product_fence();
#pragma unroll
        for (int own = 0; own < OWN; ++own) {
#pragma unroll
          for (int which = HALVES > 1 ? 0 : 2; which < 3; ++which)
#pragma unroll
            for (int part = 0; part < 4; ++part)
              multiply_tf32(HALVES > 1 ? large[own] : sum[own], which == 0 ? low[HALVES > 1 ? own : 0][part] : high[own][part], descriptor(left + (which == 1 ? LEFT : 0) + 32 * part),
                            HALVES == 1 || which > 0 || part > 0);
        }
        product_commit();
        product_wait<0>();
#pragma unroll
        for (int own = 0; own < OWN; ++own) hold(HALVES > 1 ? large[own] : sum[own]);
        if (lane == 0) arrive(empty + 8 * ring.slot);
        if (HALVES > 1) {
#pragma unroll
          for (int i = 0; i < OWN * ROWS / 2; ++i) sum[i / (ROWS / 2)][i % (ROWS / 2)] += large[i / (ROWS / 2)][i % (ROWS / 2)];
        }
      }
#pragma unroll
      for (int j = 0; j < OWN * ROWS / 32; ++j) {
        const int own = j / (ROWS / 32), first = j % (ROWS / 32) * 32;
#pragma unroll
        for (int i = 0; i < 16; ++i) staged[(i / 4 * 8 + lane % 4 * 2 + i % 2) * 20 + lane / 4 + i / 2 % 2 * 8] = sum[own][first / 2 + i];
        __syncwarp();
        const int column = column_start + (OWN * half + own) * 64 + warp * 16 + lane % 16;
#pragma unroll 4
        for (int i = lane / 16; i < 32; i += 2) {
          const int row = row_start + first + i;
          if (row >= $N$ || column >= $M$) continue;
          const float held = staged[i * 20 + lane % 16];
$store$
        }
        __syncwarp();
      }
    }
  }
}
