// SPDX-License-Identifier: Apache-2.0
//$ The inputs of a convolution as halves whose neighbours are channels: each sample's scale is found first. 32 places of a sample to a block.
//$ needs split_halves.cuh

// Of each place the largest channel of each group, which meet in results; of those the largest and the smallest that is not zero.
__global__ void __launch_bounds__(256) $name$_measure($measure_parameters$) {
  __shared__ float largests[8][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, place = blockIdx.x * 32 + lane, own = $measure_C$ / $groups$;
  const float infinity = __int_as_float(0x7f800000);
  float largest = 0, smallest = infinity;
  const float* from = $measure_X$ + size_t(blockIdx.y) * $measure_C$ * $measure_P$ + place;
  for (int group = 0; group < $groups$; ++group, from += size_t(own) * $measure_P$) {
    float most = 0;
    if (place < $measure_P$) {
#pragma unroll 8
      for (int c = warp; c < own; c += 8) {
        const float x = fabsf(from[size_t(c) * $measure_P$]);
        most = x < infinity ? fmaxf(most, x) : infinity;
      }
    }
    if (group > 0) __syncthreads();
    largests[warp][lane] = most;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; ++i) most = fmaxf(most, largests[i][lane]);
    largest = fmaxf(largest, most);
    if (most > 0) smallest = fminf(smallest, most);
  }
  if (warp > 0) return;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, step));
    smallest = fminf(smallest, __shfl_xor_sync(0xffffffff, smallest, step));
  }
  if (lane == 0) *reinterpret_cast<float2*>($measure_parts$ + 2 * (size_t(blockIdx.y) * gridDim.x + blockIdx.x)) = make_float2(largest, smallest);
}

// What undoes the scale of a sample. NaN where halves cannot hold it as float32 does: an infinite element or NaN, or places all of whose
// channels are so small that they lose bits.
__global__ void __launch_bounds__(128) $name$_scales($scale_parameters$) {
  __shared__ float2 of_warps[4];
  float2 all = make_float2(0, __int_as_float(0x7f800000));
  const auto join = [&](float2 part) { all = make_float2(fmaxf(all.x, part.x), fminf(all.y, part.y)); };
  for (int i = threadIdx.x; i < $scale_count$; i += 128) join(*reinterpret_cast<const float2*>($scale_parts$ + 2 * (size_t(blockIdx.x) * $scale_count$ + i)));
#pragma unroll
  for (int step = 16; step > 0; step /= 2) join(make_float2(__shfl_xor_sync(0xffffffff, all.x, step), __shfl_xor_sync(0xffffffff, all.y, step)));
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = all;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int warp = 1; warp < 4; ++warp) join(of_warps[warp]);
  const bool odd = !(all.x < __int_as_float(0x7f800000)) || (all.x > 0 && (all.x < 1e-30f || all.y < 0x1p-22f * all.x));
  $scale_back$[blockIdx.x] = odd ? __int_as_float(0x7fffffff) : 1 / scale_of_line(all.x);
}

__global__ void __launch_bounds__(256) $name$($parameters$) {
  __shared__ float tile[64][33];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float undo = $back$[blockIdx.z], scale = undo > 0 ? 1 / undo : 1;
  const float* from = $X$ + size_t(blockIdx.z) * $C$ * $P$;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int c = blockIdx.y * 64 + i * 8 + warp, place = blockIdx.x * 32 + lane;
    tile[i * 8 + warp][lane] = c < $C$ && place < $P$ ? from[size_t(c) * $P$ + place] * scale : 0;
  }
  __syncthreads();
  const int own = threadIdx.x % 8 * 8, place = threadIdx.x / 8;
  if (blockIdx.x * 32 + place >= $P$ || blockIdx.y * 64 + own >= $pitch$) return;
  const float4 a = make_float4(tile[own][place], tile[own + 1][place], tile[own + 2][place], tile[own + 3][place]);
  const float4 b = make_float4(tile[own + 4][place], tile[own + 5][place], tile[own + 6][place], tile[own + 7][place]);
  const uint2 high_a = high_halves(a), high_b = high_halves(b);
  const size_t to = (size_t(blockIdx.z) * $P$ + blockIdx.x * 32 + place) * $pitch$ + blockIdx.y * 64 + own;
  *reinterpret_cast<uint4*>($H$ + to) = make_uint4(high_a.x, high_a.y, high_b.x, high_b.y);
$low$
}
