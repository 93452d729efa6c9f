// SPDX-License-Identifier: Apache-2.0
//$ Lines of a factor as halves of 16 bits, scaled by a power of two for each line.
//$ needs cuda_fp16.h

// 2^e with largest · 2^e in [2^14, 2^15): the largest half is 65504.
__device__ __forceinline__ float scale_of_line(float largest) { return largest > 0 ? ldexpf(1.0f, max(-126, min(126, 14 - ilogbf(largest)))) : 1.0f; }

// Of a line the largest magnitude, infinity where there are infinities or NaN; and the smallest magnitude that is the largest of some
// neighbours, without those that are all zero.
struct Range {
  float largest = 0, weakest = __int_as_float(0x7f800000);
  __device__ __forceinline__ void join(float theirs, float their_weakest) { largest = fmaxf(largest, theirs), weakest = fminf(weakest, their_weakest); }
  // Neighbours by their largest magnitude, and the sum of all, in which infinities and NaN stay.
  __device__ __forceinline__ void take(float most, float sum) {
    most = sum < __int_as_float(0x7f800000) ? most : __int_as_float(0x7f800000);
    join(most, most > 0 ? most : __int_as_float(0x7f800000));
  }
  __device__ __forceinline__ void take(float4 x) {
    take(fmaxf(fmaxf(fabsf(x.x), fabsf(x.y)), fmaxf(fabsf(x.z), fabsf(x.w))), fabsf(x.x) + fabsf(x.y) + (fabsf(x.z) + fabsf(x.w)));
  }
  // The ranges of all 256 threads of a block, whose eight warps leave theirs in shared memory.
  __device__ __forceinline__ void join_block(float2 (&by_warp)[8]) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) join(__shfl_xor_sync(0xffffffff, largest, step), __shfl_xor_sync(0xffffffff, weakest, step));
    if (threadIdx.x % 32 == 0) by_warp[threadIdx.x / 32] = make_float2(largest, weakest);
    __syncthreads();
#pragma unroll
    for (int warp = 0; warp < 8; ++warp) join(by_warp[warp].x, by_warp[warp].y);
  }
};

// What undoes the scale of a line. NaN where halves cannot hold the line as float32 does: infinities, NaN, or neighbours so much smaller
// than the largest that they lose bits, which results show where the larger ones meet zeros.
__device__ __forceinline__ float undoing(float scale, const Range& line) {
  const bool odd = !(line.largest < __int_as_float(0x7f800000)) || (line.largest > 0 && (line.largest < 1e-30f || line.weakest < 0x1p-22f * line.largest));
  return odd ? __int_as_float(0x7fffffff) : 1 / scale;
}

// Four scaled elements as their nearest halves, and as 2^11 times what those leave over: so even small elements keep bits there.
__device__ __forceinline__ float4 scaled(float4 x, float4 scale) { return make_float4(x.x * scale.x, x.y * scale.y, x.z * scale.z, x.w * scale.w); }
__device__ __forceinline__ uint2 high_halves(float4 x) {
  const __half2 a = __floats2half2_rn(x.x, x.y), b = __floats2half2_rn(x.z, x.w);
  return make_uint2(*reinterpret_cast<const unsigned*>(&a), *reinterpret_cast<const unsigned*>(&b));
}
__device__ __forceinline__ uint2 low_halves(float4 x, uint2 high) {
  const float2 a = __half22float2(*reinterpret_cast<const __half2*>(&high.x)), b = __half22float2(*reinterpret_cast<const __half2*>(&high.y));
  return high_halves(make_float4((x.x - a.x) * 2048.0f, (x.y - a.y) * 2048.0f, (x.z - b.x) * 2048.0f, (x.w - b.y) * 2048.0f));
}

// Four elements from `at` on, zero where there are not so many `left`. WHOLE: packs of four are aligned and never cross an edge.
template <bool WHOLE>
__device__ __forceinline__ float4 four_of(const float* __restrict__ at, int left) {
  if (WHOLE) return left > 0 ? *reinterpret_cast<const float4*>(at) : make_float4(0, 0, 0, 0);
  return make_float4(left > 0 ? at[0] : 0, left > 1 ? at[1] : 0, left > 2 ? at[2] : 0, left > 3 ? at[3] : 0);
}
