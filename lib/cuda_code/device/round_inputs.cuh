// SPDX-License-Identifier: Apache-2.0
//$ The inputs of a convolution rounded to halves whose neighbours are channels, read once: each sample's scale comes from 256 of its elements,
//$ and whether all fit it is known afterwards.
//$ needs split_halves.cuh

// The largest of 256 elements comes to lie in [2^11, 2^12): others may be 16 times larger. 256 threads; infinite elements and NaN are left out.
__device__ __forceinline__ float $name$_scale(const float* __restrict__ sample, size_t count) {
  __shared__ float by_warp[8];
  float largest = fabsf(sample[threadIdx.x * count / 256]);
  largest = largest < __int_as_float(0x7f800000) ? largest : 0;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, step));
  if (threadIdx.x % 32 == 0) by_warp[threadIdx.x / 32] = largest;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 8; ++i) largest = fmaxf(largest, by_warp[i]);
  return largest > 0 ? ldexpf(1.0f, max(-126, min(126, 11 - ilogbf(largest)))) : 1.0f;
}

// 2048 elements of a sample at a time: 32 places, or more where there are few channels.
__global__ void __launch_bounds__(256) $name$($parameters$) {
  constexpr int STEP = $step$, PIECES = 64 / STEP, PACKS = STEP / 8;
  __shared__ float tile[64][33], largests[8][32 * PIECES];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, packed = threadIdx.x / PACKS, own = threadIdx.x % PACKS * 8;
  const float infinity = __int_as_float(0x7f800000), *from = $X$ + size_t(blockIdx.y) * $C$ * $P$, scale = $name$_scale(from, size_t($C$) * $P$);
  float largest = 0, smallest = infinity;
  for (int turn = 0; turn < $turns$; ++turn) {
    const int first = (blockIdx.x * $turns$ + turn) * (32 * PIECES);
    float most[PIECES] = {};
    for (int start = 0; start < $pitch$; start += STEP) {
      __syncthreads();
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const int c = start + (i * 8 + warp) % STEP, piece = i * 8 / STEP, place = first + piece * 32 + lane;
        const float x = c < $C$ && place < $P$ ? from[size_t(c) * $P$ + place] : 0;
        most[piece] = fabsf(x) < infinity ? fmaxf(most[piece], fabsf(x)) : infinity;
        tile[i * 8 + warp][lane] = x * scale;
      }
      __syncthreads();
      if (first + packed >= $P$ || start + own >= $pitch$) continue;
      const int row = packed / 32 * STEP + own, column = packed % 32;
      const uint2 a = high_halves(make_float4(tile[row][column], tile[row + 1][column], tile[row + 2][column], tile[row + 3][column]));
      const uint2 b = high_halves(make_float4(tile[row + 4][column], tile[row + 5][column], tile[row + 6][column], tile[row + 7][column]));
      *reinterpret_cast<uint4*>($H$ + (size_t(blockIdx.y) * $P$ + first + packed) * $pitch$ + start + own) = make_uint4(a.x, a.y, b.x, b.y);
    }
    // Of each place the largest channel, which meet in results; of those the largest and the smallest that is not zero.
#pragma unroll
    for (int piece = 0; piece < PIECES; ++piece) largests[warp][piece * 32 + lane] = most[piece];
    __syncthreads();
    if (threadIdx.x < 32 * PIECES) {
      float all = 0;
#pragma unroll
      for (int i = 0; i < 8; ++i) all = fmaxf(all, largests[i][threadIdx.x]);
      largest = fmaxf(largest, all), smallest = fminf(smallest, all > 0 ? all : infinity);
    }
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, step));
    smallest = fminf(smallest, __shfl_xor_sync(0xffffffff, smallest, step));
  }
  if (lane == 0 && warp < PIECES) *reinterpret_cast<float2*>($parts$ + 2 * ((size_t(blockIdx.y) * gridDim.x + blockIdx.x) * PIECES + warp)) = make_float2(largest, smallest);
}

// What undoes the scale of a sample. NaN where a half of it is infinite or NaN, or where all channels of a place are so small that they lose bits.
__global__ void __launch_bounds__(256) $name$_scales($scale_parameters$) {
  __shared__ float2 of_warps[8];
  const float scale = $name$_scale($scale_X$ + size_t(blockIdx.x) * $scale_C$ * $scale_P$, size_t($scale_C$) * $scale_P$);
  Range all;
  for (int i = threadIdx.x; i < $scale_count$; i += 256) {
    const float2 part = *reinterpret_cast<const float2*>($scale_parts$ + 2 * (size_t(blockIdx.x) * $scale_count$ + i));
    all.join(part.x, part.y);
  }
  all.join_block(of_warps);
  const bool odd = !(all.largest * scale <= 65504) || (all.largest > 0 && (all.largest < 1e-30f || all.weakest * scale < 0x1p-7f));
  if (threadIdx.x == 0) $scale_back$[blockIdx.x] = odd ? __int_as_float(0x7fffffff) : 1 / scale;
}
