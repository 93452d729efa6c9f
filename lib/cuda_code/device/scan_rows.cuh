// SPDX-License-Identifier: Apache-2.0
//$ needs pack.cuh

template <bool WHOLE>
__device__ __forceinline__ void $name$_body($parameters$) {
  // A row passes in pieces; every thread scans four neighbours, the warps their totals, and the carry goes on.
  __shared__ $type$ part[$threads$ / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
$coordinates$
$lines$
  $type$ carry = $neutral$;
  for (int start = 0; start < $M$; start += $threads$ * 4) {
    const int from = start + threadIdx.x * 4, left = $M$ - from;
    $type$ value[4];
    if (WHOLE) {
$packs$
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int item = $item$, along = $where$ + item;
$from_packs$
      }
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        value[i] = $neutral$;
        if (i >= left) continue;
        const int along = $element$;
$from_elements$
      }
    }
#pragma unroll
    for (int i = 1; i < 4; ++i) value[i] $op$= value[i - 1];
    $type$ total = value[3];
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
      const $type$ before = __shfl_up_sync(0xffffffffu, total, offset);
      if (lane >= offset) total $op$= before;
    }
    __syncthreads();
    if (lane == 31) part[warp] = total;
    __syncthreads();
    $type$ before = __shfl_up_sync(0xffffffffu, total, 1);
    if (lane == 0) before = $neutral$;
    before $op$= carry;
    for (int other = 0; other < $threads$ / 32; ++other) {
      if (other < warp) before $op$= part[other];
      carry $op$= part[other];
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) value[i] $op$= before;
$stores$
  }
}

__global__ void __launch_bounds__($threads$) $name$($parameters$) {
  if ($aligned$) $name$_body<true>($forwarded$);
  else $name$_body<false>($forwarded$);
}
