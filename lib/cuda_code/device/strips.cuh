// SPDX-License-Identifier: Apache-2.0
//$ needs fetch_pack.cuh

template <bool WHOLE>
__device__ __forceinline__ void $name$_body($parameters$) {
  // A thread makes four neighbouring results of $rows$ rows$and_planes$.$combines$
  // Results change lanes in shared memory, so that neighbours are stored by neighbours.
  constexpr int LANES = $lanes$, PACKS = $packs$, FIRST = $first$, INPUT_ROWS = ($rows$ - 1) * $stride_h$ + $span_h$;
  __shared__ __align__(16) float results[$threads$ / 32][$rows$][128];
  const int lane = threadIdx.x % LANES, warp = threadIdx.x / 32;
  const int chunks = ($OW$ + LANES * 4 - 1) / (LANES * 4), strips = ($OH$ + $rows$ - 1) / $rows$;
  const $index$ place = ($to_index$(blockIdx.x) * $threads$ + threadIdx.x) / LANES;
  const int chunk = place % chunks, strip = place / chunks % strips;
$depth$
  const $index$ plane = place / chunks / strips$per_depth$;
  const bool live = plane < $planes$;
  const float* x = $X$ + size_t(live ? plane : 0) * $volume$;
  const int w0 = (chunk * LANES + lane) * $step_w$ - $before_w$, h0 = strip * $rows$ * $stride_h$ - $padding_h$;
$held$
$weights$
$open$
#pragma unroll
  for (int r = 0; r < INPUT_ROWS; ++r) {
    const bool there = live && unsigned(h0 + r) < unsigned($H$);
    float row[PACKS * 4];
#pragma unroll
    for (int q = 0; q < PACKS; ++q)
      fetch_pack<WHOLE>(row + q * 4, x + $row$, w0 + q * 4, $W$, there, $neutral$);
$gather$
  }
$close$
$coordinates$
$each_plane$
#pragma unroll
  for (int j = 0; j < $rows$; ++j)
    *reinterpret_cast<float4*>(&results[warp][j][threadIdx.x % 32 * 4]) = make_float4(held[j][0], held[j][1], held[j][2], held[j][3]);
  __syncwarp();
#pragma unroll
  for (int j = 0; j < $rows$; ++j) {
    const int at_h = strip * $rows$ + j;
    if ($gone$ || at_h >= $OH$) break;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int at_w = (chunk * 4 + i) * LANES + lane;
      if (at_w >= $OW$) break;
      float produced = results[warp][j][threadIdx.x % 32 / LANES * LANES * 4 + i * LANES + lane];
$divide$
$epilogue$
      $store$
    }
  }
$end_plane$
}

__global__ void __launch_bounds__($threads$) $name$($parameters$) {
  if ($W$ % 4 == 0) $name$_body<true>($forwarded$);
  else $name$_body<false>($forwarded$);
}
