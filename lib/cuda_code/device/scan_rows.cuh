// SPDX-License-Identifier: Apache-2.0
//$ needs pack.cuh
//$ type = float
//$ parameters = const float* __restrict__ S, float* __restrict__ Y, int M, int N
//$ forwarded = S, Y, M, N
//$ threads = 256
//$ coordinates =   const int at0 = blockIdx.x;\n
//$ lines =   const float* x0 = S + size_t(at0) * M;\n
//$ neutral = 0
//$ op = +
//$ where = from
//$ item = i
//$ aligned = M % 4 == 0
//$ packs =       const Pack<float, 4> pack0 = load<true, 4>(x0 + from, left);\n
//$ from_packs =         const float v0 = float(pack0.at[item]);\n        value[i] = v0;\n
//$ from_elements =         const float v0 = float(x0[along]);\n        value[i] = v0;\n
//$ element = from + i
//$ stores =     if (WHOLE) {\n      if (left <= 0) continue;\n      Pack<float, 4> out;\n#pragma unroll\n      for (int i = 0; i < 4; ++i) {\n        const int item = i, along = from + item;\n        const float produced = value[i];\n        out.at[item] = produced;\n      }\n      const int along = from;\n      store<true, 4>(Y + size_t(at0) * M + along, out, left);\n      continue;\n    }\n#pragma unroll\n    for (int i = 0; i < 4; ++i) {\n      if (i >= left) break;\n      const int along = from + i;\n      const float produced = value[i];\n      Y[size_t(at0) * M + along] = produced;\n    }\n

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
