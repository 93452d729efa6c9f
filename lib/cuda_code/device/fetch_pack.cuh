// SPDX-License-Identifier: Apache-2.0

// Four neighbours of a row, `outside` where it has none. WHOLE: they are aligned, and all or none of them exist.
template <bool WHOLE>
__device__ __forceinline__ void fetch_pack(float* to, const float* row, int column, int columns, bool there, float outside) {
  if (WHOLE) {
    const bool inside = there && unsigned(column) < unsigned(columns);
    const float4 pack = inside ? *reinterpret_cast<const float4*>(row + column) : make_float4(outside, outside, outside, outside);
    to[0] = pack.x, to[1] = pack.y, to[2] = pack.z, to[3] = pack.w;
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) to[i] = there && unsigned(column + i) < unsigned(columns) ? row[column + i] : outside;
  }
}
