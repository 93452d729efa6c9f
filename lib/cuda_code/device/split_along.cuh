// SPDX-License-Identifier: Apache-2.0
//$ A block for each line of a factor whose neighbours lie along the depth: its halves, and what undoes its scale.
//$ needs split_halves.cuh

template <bool WHOLE>
__device__ __forceinline__ void $name$_body($parameters$, float2 (&by_warp)[8]) {
  constexpr int HELD = 4, STEP = 1024;
  const int start = threadIdx.x * 4;
  const float* __restrict__ from = $X$ + size_t(blockIdx.x) * $depth$;
  const size_t first = size_t(blockIdx.x) * $pitch$;
  float4 held[HELD];
  Range line;
#pragma unroll
  for (int i = 0; i < HELD; ++i) held[i] = four_of<WHOLE>(from + start + i * STEP, $depth$ - start - i * STEP);
#pragma unroll
  for (int i = 0; i < HELD; ++i) line.take(held[i]);
  for (int k = start + HELD * STEP; k < $depth$; k += STEP) line.take(four_of<WHOLE>(from + k, $depth$ - k));
  line.join_block(by_warp);
  const float scale = scale_of_line(line.largest);
  if (threadIdx.x == 0) $back$[blockIdx.x] = undoing(scale, line);
  const auto put = [&](float4 x, int k) {
    x = scaled(x, make_float4(scale, scale, scale, scale));
    const uint2 high = high_halves(x);
    *reinterpret_cast<uint2*>($H$ + first + k) = high;
$low$
  };
#pragma unroll
  for (int i = 0; i < HELD; ++i)
    if (start + i * STEP < $depth$) put(held[i], start + i * STEP);
  for (int k = start + HELD * STEP; k < $depth$; k += STEP) put(four_of<WHOLE>(from + k, $depth$ - k), k);
}

__global__ void __launch_bounds__(256) $name$($parameters$) {
  __shared__ float2 by_warp[8];
  if ($whole$) $name$_body<true>($forwarded$, by_warp);
  else $name$_body<false>($forwarded$, by_warp);
}
