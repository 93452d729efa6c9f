// SPDX-License-Identifier: Apache-2.0
//$ Where rows are not aligned: a thread's four neighbours would lie in as many sectors as there are lanes.

__global__ void __launch_bounds__($threads$) $name$($parameters$) {
  // A thread makes $rows$ results of a column$and_planes$, its neighbours those beside them, so that neighbours are loaded and stored by
  // neighbours.$combines$
  constexpr int INPUT_ROWS = ($rows$ - 1) * $stride_h$ + $span_h$;
  const int strips = ($OH$ + $rows$ - 1) / $rows$;
  const $index$ place = $to_index$(blockIdx.x) * $threads$ + threadIdx.x;
  const int at_w = place % $OW$, strip = place / $OW$ % strips;
$depth$
  const $index$ plane = place / $OW$ / strips$per_depth$;
  if (plane >= $planes$) return;
  const float* x = $X$ + size_t(plane) * $volume$;
  const int w0 = at_w * $stride_w$ - $padding_w$, h0 = strip * $rows$ * $stride_h$ - $padding_h$;
$held$
$weights$
$open$
#pragma unroll
  for (int r = 0; r < INPUT_ROWS; ++r) {
    const bool there = unsigned(h0 + r) < unsigned($H$);
$gather$
  }
$close$
$coordinates$
$each_plane$
#pragma unroll
  for (int j = 0; j < $rows$; ++j) {
    const int at_h = strip * $rows$ + j;
    if ($gone$at_h >= $OH$) break;
    float produced = held[j][0];
$divide$
$epilogue$
    $store$
  }
$end_plane$
}
