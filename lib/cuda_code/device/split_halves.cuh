// SPDX-License-Identifier: Apache-2.0
//$ Lines of a factor as halves of 16 bits, scaled by a power of two for each line.

// 2^e with largest · 2^e in [2^14, 2^15): the largest half is 65504.
__device__ __forceinline__ float scale_of_line(float largest) { return largest > 0 ? ldexpf(1.0f, max(-126, min(126, 14 - ilogbf(largest)))) : 1.0f; }

// The largest magnitude of a line, and the sum of all others; NaN stays in the sum.
struct Magnitudes {
  float largest, others;
  __device__ __forceinline__ void take(float x) {
    x = fabsf(x);
    others += largest < x ? largest : x;
    largest = fmaxf(largest, x);
  }
  __device__ __forceinline__ void take(float4 x) { take(x.x), take(x.y), take(x.z), take(x.w); }
  __device__ __forceinline__ void join(float theirs, float and_others) { take(theirs), others += and_others; }
};

// The factor that undoes the scale of a line. NaN where halves cannot hold the line as float32 does: infinities, NaN, or one element so
// much larger than the others that they lose bits.
__device__ __forceinline__ float undoing(float scale, const Magnitudes& line, int count) {
  const float infinity = __int_as_float(0x7f800000);
  const bool odd = !(line.largest < infinity) || !(line.others < infinity) || (line.largest > 0 && line.largest < 1e-30f) ||
                   (line.others > 0 && line.largest > 0x1p25f * (line.others / count));
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
