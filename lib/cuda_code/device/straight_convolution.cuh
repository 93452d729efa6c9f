// SPDX-License-Identifier: Apache-2.0
//$ A convolution in TF32 by warpgroups that takes its inputs as they lie in memory, for compute capability 9.0. Places are the rows of the
//$ tensor cores, from registers; results, whose weights a kernel has arranged, are the columns. A window holds the inputs of a
//$ warpgroup's places for a few channels, once for all taps; each lane reads its places at a tap from there.
//$ needs hopper.cuh tf32_bits.cuh

__global__ void __launch_bounds__(384, 1) $name$($parameters$) {
  using namespace hopper;
  // Each of two warpgroups has tiles and windows of its own; they share the weights, a slot for the taps of a column. Of a warp's places eight
  // neighbours and eight that lie PAIR_H lines or PAIR_W columns further are 16 rows of a product, of which it has BLOCK_H by BLOCK_W.
  constexpr int COLUMNS = $columns$, CHANNELS = $channels$, PARTS = CHANNELS / 8, BLOCK_H = $block_h$, BLOCK_W = $block_w$, BLOCKS = BLOCK_H * BLOCK_W, PAIR_H = $pair_h$, PAIR_W = $pair_w$;
  constexpr int MOST_H = $most_h$, MOST_W = $most_w$, STEP_H = $step_h$, STEP_W = $step_w$, STRIDE_H = $stride_h$, STRIDE_W = $stride_w$, READ = (BLOCK_H - 1) * STRIDE_H + (MOST_H - 1) * STEP_H + 1;
  constexpr int PITCH = $pitch$, LINES = $lines$, PLANE = $plane$, WINDOW = CHANNELS * PLANE, WINDOWS = $windows$, TAP = COLUMNS * 32, SLOT = PARTS * MOST_H * TAP, SLOTS = $slots$;
  extern __shared__ __align__(128) char convolution_memory[];
  __shared__ __align__(8) u64 barriers[2 * SLOTS + 4 * WINDOWS];
  float* const window_memory = reinterpret_cast<float*>(convolution_memory + SLOTS * SLOT);
  const u32 weights_start = shared_address(convolution_memory), full = shared_address(barriers), empty = full + 8 * SLOTS, windows_full = empty + 8 * SLOTS;
  const u32 windows_empty = windows_full + 16 * WINDOWS;
  const int kinds = $kinds$, tiles = $tiles$, channel_steps = ($C$ + CHANNELS - 1) / CHANNELS, lane = threadIdx.x % 32;
  // A block that has tiles of one kind keeps their weights.
  const bool kept = gridDim.x % kinds == 0 && channel_steps * ($most_d$ * MOST_W) <= SLOTS;
  const int copiers = kept ? 64 : 32;  // threads that copy the windows of a warpgroup
  if (threadIdx.x == 0) {
    for (int slot = 0; slot < SLOTS; ++slot) barrier_init(full + 8 * slot, 1), barrier_init(empty + 8 * slot, 8);
    for (int slot = 0; slot < 2 * WINDOWS; ++slot) barrier_init(windows_full + 8 * slot, copiers), barrier_init(windows_empty + 8 * slot, 4);
    barrier_init_done();
  }
  __syncthreads();
  const auto load_weights = [&] {
    Ring<SLOTS> ring;
    for (int tile = blockIdx.x; tile < (kept ? min(tiles, int(blockIdx.x) + 1) : tiles); tile += gridDim.x) {
      const int team = 0;
$locate$
      const float* const weights = $weights$ + size_t(((group * downs + down) * $classes$ + taps_class) * channel_steps) * ($most_d$ * MOST_W * SLOT / 4);
      for (int step = 0; step < steps; ++step)
        for (int tap = 0; tap < TW; ++tap, ring.next()) {
          wait(empty + 8 * ring.slot, ring.parity ^ 1);
          arrive_expect(full + 8 * ring.slot, SLOT);
          bulk_load(weights_start + ring.slot * SLOT, weights + ((step / TD * $most_d$ + step % TD) * MOST_W + tap) * (SLOT / 4), SLOT, full + 8 * ring.slot);
        }
    }
  };
  if (warpgroup() == 0) {
    give_registers<56>();
    const int team = threadIdx.x / 64, copier = threadIdx.x % 64;
    if (!kept && threadIdx.x == 32) load_weights();
    Ring<WINDOWS> windows;
    for (int tile = copier < copiers ? int(blockIdx.x) : tiles; tile < tiles; tile += gridDim.x) {
$locate$
      for (int step = 0; step < steps; ++step, windows.next()) {
        const int tap_d = step % TD, c = step / TD * CHANNELS, d = from_d + tap_d * $step_d$;
        wait(windows_empty + 8 * (team * WINDOWS + windows.slot), windows.parity ^ 1);
        const u32 window = shared_address(window_memory + (team * WINDOWS + windows.slot) * WINDOW), bar = windows_full + 8 * (team * WINDOWS + windows.slot);
        const float* const plane = $X$ + ((size_t(b_start) * $all_channels$ + group * $C$ + c) * $D$ + d) * ($H$ * $W$);
        const int depth = b_start < $B$ && unsigned(d) < unsigned($D$) ? $C$ - c : 0;
#pragma unroll 4
        for (int at = copier; at < CHANNELS * LINES * (PITCH / 4); at += copiers) {
          const int channel = at / (LINES * (PITCH / 4)), place = at % (LINES * (PITCH / 4)), h = from_h + place / (PITCH / 4), w = (from_w & -4) + place % (PITCH / 4) * 4;
          const bool there = channel < depth && unsigned(h) < unsigned($H$);
          const float* const from = plane + size_t(channel) * ($D$ * ($H$ * $W$)) + h * $W$ + w;
          const u32 to = window + channel * (PLANE * 4) + place * 16;
          if ($W$ % 4 == 0) {
            const bool inside = there && unsigned(w) < unsigned($W$);
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(inside ? from : $X$), "r"(inside ? 16 : 0));
          } else {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
              const bool inside = there && unsigned(w + i) < unsigned($W$);
              asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to + 4 * i), "l"(inside ? from + i : $X$), "r"(inside ? 4 : 0));
            }
          }
        }
        asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(bar) : "memory");
      }
    }
  } else {
    take_registers<224>();
    const int team = warpgroup() - 1, warp = threadIdx.x / 32 % 4;
    const int strip_h = warp / $warps_w$ * $strip_h$, strip_w = warp % $warps_w$ * $strip_w$;
    if (kept && threadIdx.x == 128) load_weights();
    __syncwarp();
    Ring<SLOTS> ring;
    Ring<WINDOWS> windows;
    for (int number = blockIdx.x; number < tiles; number += gridDim.x) {
      // Products overlap only where ptxas sees that all lanes meet the same conditions, which a shuffle tells it.
      const int tile = __shfl_sync(0xffffffff, number, 0);
$locate$
      if (kept) ring = {};
      const int own = lane % 4 * PLANE + strip_h * (STRIDE_H * PITCH) + (strip_w + lane / 4) * STRIDE_W + (from_w & 3);
      float sum[BLOCKS][COLUMNS / 2] = {};
      float read[PARTS][READ][BLOCK_W][4];
      const auto read_at = [&](u32 slot, int tap) {
        const float* const from = window_memory + (team * WINDOWS + slot) * WINDOW + own + tap * STEP_W;
#pragma unroll
        for (int i = 0; i < PARTS * READ * BLOCK_W * 4; ++i) {
          const int part = i / 4 / BLOCK_W / READ, line = i / 4 / BLOCK_W % READ, block = i / 4 % BLOCK_W, c = part * 8 + i / 2 % 2 * 4, pair = i % 2;
          read[part][line][block][i % 4] = from[c * PLANE + (line + pair * PAIR_H * STRIDE_H) * PITCH + (block * 8 + pair * PAIR_W) * STRIDE_W];
        }
      };
$sums$
#pragma unroll
      for (int i = 0; i < COLUMNS / 4; ++i) {
        const int column = row_start + i / 2 * 8 + lane % 4 * 2 + i % 2, at_o = group * $O$ + column;
#pragma unroll
        for (int half = 0; half < 2 * BLOCKS; ++half) {
          const int block = half / 2, part_h = strip_h + block / BLOCK_W + half % 2 * PAIR_H, part_w = strip_w + block % BLOCK_W * 8 + half % 2 * PAIR_W + lane / 4;
$place$
          if (there && column < $O$) {
            const float produced = sum[block][i / 2 * 4 + half % 2 * 2 + i % 2];
$store$
          }
        }
      }
    }
  }
}
