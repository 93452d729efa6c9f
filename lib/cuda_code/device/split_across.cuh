// SPDX-License-Identifier: Apache-2.0
//$ Lines of a factor whose neighbours lie across the depth, 128 lines by 128 depths to a block: first the range of each part, then
//$ halves and what undoes each line's scale.
//$ needs split_halves.cuh

template <bool WHOLE>
__device__ __forceinline__ void $name$_measure_body($measure_parameters$, float2 (&by_warp)[8][128]) {
//$ with lines_across.cuh; X = $measure_X$; depth = $measure_depth$; lines = $measure_lines$
  Range four[4];
  float4 most = make_float4(0, 0, 0, 0), sum = most;
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const float4 x = make_float4(fabsf(held[i].x), fabsf(held[i].y), fabsf(held[i].z), fabsf(held[i].w));
    most = make_float4(fmaxf(most.x, x.x), fmaxf(most.y, x.y), fmaxf(most.z, x.z), fmaxf(most.w, x.w));
    sum = make_float4(sum.x + x.x, sum.y + x.y, sum.z + x.z, sum.w + x.w);
  }
  four[0].take(most.x, sum.x), four[1].take(most.y, sum.y), four[2].take(most.z, sum.z), four[3].take(most.w, sum.w);
#pragma unroll
  for (int i = 0; i < 4; ++i) by_warp[warp][threadIdx.x % 32 * 4 + i] = make_float2(four[i].largest, four[i].weakest);
  __syncthreads();
  if (threadIdx.x >= 128 || blockIdx.x * 128 + threadIdx.x >= $measure_lines$) return;
  Range all;
#pragma unroll
  for (int i = 0; i < 8; ++i) all.join(by_warp[i][threadIdx.x].x, by_warp[i][threadIdx.x].y);
  const size_t at = (size_t(blockIdx.z) * gridDim.y + blockIdx.y) * $measure_lines$ + blockIdx.x * 128 + threadIdx.x;
  *reinterpret_cast<float2*>($measure_parts$ + 2 * at) = make_float2(all.largest, all.weakest);
}

__global__ void __launch_bounds__(256) $name$_measure($measure_parameters$) {
  __shared__ float2 by_warp[8][128];
  if ($measure_whole$) $name$_measure_body<true>($measure_forwarded$, by_warp);
  else $name$_measure_body<false>($measure_forwarded$, by_warp);
}

template <bool WHOLE>
__device__ __forceinline__ void $name$_body($parameters$, float2 (&by_group)[2][128], float4 (&scales)[32]) {
//$ with lines_across.cuh
  const int own = threadIdx.x % 128, group = threadIdx.x / 128;
  Range all;
  if (blockIdx.x * 128 + own < $lines$)
    for (int part = group; part < gridDim.y; part += 2) {
      const float2 found = *reinterpret_cast<const float2*>($parts$ + 2 * ((size_t(blockIdx.z) * gridDim.y + part) * $lines$ + blockIdx.x * 128 + own));
      all.join(found.x, found.y);
    }
  by_group[group][own] = make_float2(all.largest, all.weakest);
  __syncthreads();
  if (group == 0) {
    all.join(by_group[1][own].x, by_group[1][own].y);
    const float scale = scale_of_line(all.largest);
    reinterpret_cast<float*>(scales)[own] = scale;
    if (blockIdx.y == 0 && blockIdx.x * 128 + own < $lines$)
      $back$[size_t(blockIdx.z) * $lines$ + blockIdx.x * 128 + own] = undoing(scale, all);
  }
  __syncthreads();
  const float4 scale = scales[threadIdx.x % 32];
  if (line >= $pitch$) return;
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const int k = blockIdx.y * 128 + warp * 16 + i;
    if (k >= $depth$) return;
    const size_t to = (size_t(blockIdx.z) * $depth$ + k) * $pitch$ + line;
    const float4 x = scaled(held[i], scale);
    const uint2 high = high_halves(x);
    *reinterpret_cast<uint2*>($H$ + to) = high;
$low$
  }
}

__global__ void __launch_bounds__(256) $name$($parameters$) {
  __shared__ float2 by_group[2][128];
  __shared__ float4 scales[32];
  if ($whole$) $name$_body<true>($forwarded$, by_group, scales);
  else $name$_body<false>($forwarded$, by_group, scales);
}
