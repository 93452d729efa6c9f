// SPDX-License-Identifier: Apache-2.0
//$ The same sum with the inputs of a tile in shared memory once for all taps. Of the planes (of one channel; of a channel and
//$ a tap along the first of three axes) only those are copied that no earlier step has met: they go round in a ring.
//$ needs tensor_tiles.cuh

__global__ void __launch_bounds__(128, $blocks$) $name$($parameters$) {
  // Output channels by positions, summed over channels and taps: a product whose right factor is read out of rows of inputs
  // that stand in shared memory once for all taps.
  constexpr int STEP = 32, STAGES = $stages$, LEFT = tile_floats<true, $tile_o$, STEP>;
  // Columns of results that a tile spans, floats from row to row, threads that copy a plane.
  constexpr int STRIP = $strip$, LINE = $line$, LANES = $lanes$;
  struct Position { int b, d, h, w; };
  struct Element { int from, to, d; };
  // Tiles of weights; the tile's positions, and where their inputs start; where the inputs of a step's depths stand; the ring of
  // planes; where the elements of a plane come from and go to.
  extern __shared__ __align__(16) float tiles[];
  Position* places = reinterpret_cast<Position*>(tiles + STAGES * LEFT);
  int *starts = reinterpret_cast<int*>(places + $tile_p$), *shifts = starts + $tile_p$;
  float* ring = reinterpret_cast<float*>(shifts + 2 * STEP);
$part$
  const int span_h = $span_h$, span_w = $span_w$, pitch_h = min($times_h$, span_h), pitch_w = min($times_w$, span_w);
  // As many planes are kept as the steps on their way meet.
  const int window = TH * TW, slots = (STEP * STAGES - 1) / max(window, 1) + 2;
  const int depth = $channels$ * TD * window, positions = $batch$ * QD * QH * STRIP;
  const int strips = $strips$, start = blockIdx.x / strips * $tile_p$, column = blockIdx.x % strips * STRIP;
  if (start >= positions || column >= QW) return;
  const int o_start = blockIdx.y * $tile_o$;
  // The rows of all samples that such a strip needs lie one below the other.
  const int height = (QH - 1) * pitch_h + span_h;
  const auto row_of = [&](int position) { return position / STRIP / QH * height + position / STRIP % QH * pitch_h; };
  const int first_row = row_of(start), rows = row_of(min(start + $tile_p$, positions) - 1) + span_h - first_row;
  // Packs of four are aligned where rows are.
  const bool packed = $packed$;
  const int left_column = column * $times_w$ + $low_w$, margin = packed ? left_column & 3 : 0;
  if (threadIdx.x < $tile_p$) {
    const int position = start + threadIdx.x, line = position / STRIP, w = column + position % STRIP;
    places[threadIdx.x] = Position{position < positions && w < QW ? line / (QH * QD) : -1, $own_d$, $own_h$, $own_w$};
    starts[threadIdx.x] = ((row_of(min(position, positions - 1)) - first_row) * LINE + margin + position % STRIP * pitch_w) * 4;
  }
  const int plane_floats = rows * LINE, line_packs = packed ? (STRIP * pitch_w - pitch_w + span_w + 6) / 4 : STRIP * pitch_w - pitch_w + span_w;
  const int elements = rows * line_packs;
  Element* table = reinterpret_cast<Element*>(ring + slots * plane_floats);
  for (int e = threadIdx.x; e < elements; e += 128) {
    const int row = (first_row + e / line_packs) % height, sample = (first_row + e / line_packs) / height, at = e % line_packs * (packed ? 4 : 1);
    const int h = $row_h$ + $low_h$, w = $row_w$ + left_column - margin;
    const bool inside = sample < $batch$ * QD && unsigned(h) < unsigned($H$) && unsigned(w) < unsigned($W$);
    table[e] = Element{inside ? ((sample / QD * $all_channels$ + group * $channels$) * $D$ * $H$ + h) * $W$ + w : -1, e / line_packs * LINE + at,
                       sample % QD * $times_d$ + add_d};
  }
  __syncthreads();
  const float* kernel = $weights$;
  const auto copy = [&](int step) {
    if (step * STEP < depth) {
      float* left = tiles + step % STAGES * LEFT;
      if ($weight_row$ % 4 == 0) {
#pragma unroll 4
        for (int line = threadIdx.x / (STEP / 4); line < $tile_o$; line += 128 / (STEP / 4)) {
          const int k = threadIdx.x % (STEP / 4) * 4;
          const bool inside = o_start + line < $O$ && step * STEP + k < depth;
          copy_async<16>(left + line * (STEP + 4) + k, inside ? kernel + (o_start + line) * $weight_row$ + step * STEP + k : kernel, inside);
        }
      } else {
        const int k = step * STEP + threadIdx.x % STEP;
#pragma unroll 4
        for (int line = threadIdx.x / STEP; line < $tile_o$; line += 128 / STEP) {
          const bool inside = o_start + line < $O$ && k < depth;
          copy_async<4>(left + line * (STEP + 4) + threadIdx.x % STEP, inside ? kernel + (o_start + line) * $weight_row$ + k : kernel, inside);
        }
      }
      const int planes = (min(step * STEP + STEP, depth) + window - 1) / window;
      for (int plane = (step * STEP + window - 1) / window + threadIdx.x / LANES; plane < planes; plane += 128 / LANES) {
        float* to = ring + plane % slots * plane_floats;
        const float* from = $X$ + size_t(plane / TD) * $plane$;
        for (int e = threadIdx.x % LANES; e < elements; e += LANES) {
          const Element at = table[e];
$inside$
          if (packed) copy_async<16>(to + at.to, x, inside);
          else copy_async<4>(to + at.to, x, inside);
        }
      }
    }
    asm volatile("cp.async.commit_group;");
  };
  // Where the inputs of a step's depths stand, [bytes]. Depths beyond the last one meet weights of zero.
  const auto tabulate = [&](int step) {
    if (threadIdx.x >= STEP) return;
    const int k = min(step * STEP + int(threadIdx.x), depth - 1), h = k % window / TW, w = k % TW;
    shifts[step % 2 * STEP + threadIdx.x] = (k / window % slots * plane_floats + $shift_h$ * LINE + $shift_w$) * 4;
  };
  for (int step = 0; step < STAGES - 1; ++step) copy(step);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int own[$tile_p$ / 16];
#pragma unroll
  for (int i = 0; i < $tile_p$ / 16; ++i) own[i] = starts[warp % 2 * ($tile_p$ / 2) + i * 8 + lane / 4];
  if (depth > 0) tabulate(0);
  float sum[$tile_o$ / 32][$tile_p$ / 16][4] = {};
  for (int step = 0; step * STEP < depth; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
    __syncthreads();
    copy(step + STAGES - 1);
    tabulate(step + 1);
    multiply_fragments<true, $tile_o$, $tile_p$, STEP>(sum, tiles + step % STAGES * LEFT, [&](int j, int k, unsigned (&high)[4], unsigned (&low)[4]) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int at = own[j * 2 + i % 2] + shifts[step % 2 * STEP + k + lane % 4 + i / 2 * 4];
        halves(*reinterpret_cast<const float*>(reinterpret_cast<const char*>(ring) + at), high[i], low[i]);
      }
    });
  }
#pragma unroll
  for (int j = 0; j < $tile_p$ / 8; ++j) {
    const Position at = places[warp % 2 * ($tile_p$ / 2) + j / 2 * 8 + lane % 4 * 2 + j % 2];
    if (at.b < 0) continue;
    const int at_b = at.b, at_d = at.d, at_h = at.h, at_w = at.w;
//$ with store_channels.cuh
  }
}
