// SPDX-License-Identifier: Apache-2.0
//$ Where rows are not aligned: a thread's four neighbours would lie in as many sectors as there are lanes.
//$ needs operations.cuh
//$ samples strips.cuh
//$ parameters = const float* __restrict__ X, float* __restrict__ Y, int C, int B, int volume, int n5, int OW, int planes
//$ stride_w = 2
//$ dilation_w = 1
//$ taps_w = 4
//$ dilation_h = 1
//$ taps_h = 1
//$ padding_w = 1
//$ inside_w =  && unsigned(w) < unsigned(volume)
//$ combine = Sum()
//$ then_planes = 
//$ held =   float held[4][1];\n#pragma unroll\n  for (int j = 0; j < 4; ++j)\n#pragma unroll\n    for (int i = 0; i < 1; ++i) held[j][i] = 0.0f;\n
//$ gone = 
//$ divide =     const int start_w = at_w * 2 - 1;\n    const int count_w = min(start_w + 4, volume) - max(start_w, 0);\n    produced /= float(count_w);\n
//$ store = Y[size_t(at0) * n5 + size_t(at1) * OW + at_w] = produced;
//$ OW = OW

__global__ void __launch_bounds__($threads$) $name$($parameters$) {
  // A thread makes $rows$ results of a column$and_planes$, its neighbours those beside them, so that neighbours are loaded and stored by
  // neighbours. It combines along a row first, then the rows$then_planes$.
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
$open$
#pragma unroll
  for (int r = 0; r < INPUT_ROWS; ++r) {
    const bool there = unsigned(h0 + r) < unsigned($H$);
    float across = $neutral$;
#pragma unroll
    for (int c = 0; c < $taps_w$; ++c) {
      const int w = w0 + c * $dilation_w$;
      across = $combine$(across, there$inside_w$ ? x[$row$ + w] : $neutral$);
    }
#pragma unroll
    for (int j = 0; j < $rows$; ++j) {
      const int b = r - j * $stride_h$;
      if (b < 0 || b % $dilation_h$ != 0 || b / $dilation_h$ >= $taps_h$) continue;
      held[j][0] = $combine$(held[j][0], across);
    }
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
