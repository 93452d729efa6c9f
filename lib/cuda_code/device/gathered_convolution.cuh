// SPDX-License-Identifier: Apache-2.0
//$ On the tensor cores, every input copied once per tap.
//$ needs tensor_tiles.cuh

__global__ void __launch_bounds__(128, 2) $name$($parameters$) {
  // Output channels by positions, summed over channels and taps: a product whose right factor is gathered.
  constexpr int STEP = 32, STAGES = $stages$, NOWHERE = -(1 << 28);
  constexpr int LEFT = tile_floats<true, $tile_o$, STEP>, BOTH = LEFT + tile_floats<false, $tile_p$, STEP>;
  struct Tap { int from, weight, d, h, w; };
  extern __shared__ __align__(16) float tiles[];
  __shared__ Tap taps[2][STEP];
$part$
  const int depth = $channels$ * TD * TH * TW, positions = $batch$ * QD * QH * QW;
  if (int(blockIdx.x) * $tile_p$ >= positions) return;
  const int o_start = blockIdx.y * $tile_o$;
//$ with gathered_position.cuh; block = int(blockIdx.x)
  // The taps of a step are in their table one step before its copies start.
  const auto tabulate = [&](int step) {
    if (threadIdx.x < STEP) taps[step % 2][threadIdx.x] = tap(step * STEP + threadIdx.x);
  };
  const auto copy = [&](int step) {
    if (step * STEP < depth) {
      float *left = tiles + step % STAGES * BOTH, *right = left + LEFT;
      const Tap* table = taps[step % 2];
$copy_weights$
#pragma unroll 8
      for (int k = threadIdx.x / $tile_p$; k < STEP; k += 128 / $tile_p$) {
        const Tap at = table[k];
$window$
        const bool there = $there$;
        copy_async<4>(right + k * ($tile_p$ + 8) + own, there ? x + (base + at.from) : $X$, there);
      }
    }
    asm volatile("cp.async.commit_group;");
  };
  for (int step = 0; step < STAGES - 1; ++step) {
    tabulate(step);
    __syncthreads();
    copy(step);
  }
  tabulate(STAGES - 1);
  float sum[$tile_o$ / 32][$tile_p$ / 16][4] = {};
  for (int step = 0; step * STEP < depth; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
    __syncthreads();
    copy(step + STAGES - 1);
    tabulate(step + STAGES);
    const float* left = tiles + step % STAGES * BOTH;
    multiply_tiles<true, false, $tile_o$, $tile_p$, STEP>(sum, left, left + LEFT);
  }
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
  for (int j = 0; j < $tile_p$ / 8; ++j) {
    const int at = blockIdx.x * $tile_p$ + warp % 2 * ($tile_p$ / 2) + j / 2 * 8 + lane % 4 * 2 + j % 2;
    if (at >= positions) continue;
    const int at_b = at / (QD * QH * QW), at_d = $result_d$, at_h = $result_h$, at_w = $result_w$;
//$ with store_channels.cuh
  }
}
