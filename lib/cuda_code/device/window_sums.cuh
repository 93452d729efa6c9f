// SPDX-License-Identifier: Apache-2.0
//$ needs pack.cuh

$meets$
template <bool WHOLE>
__device__ __forceinline__ void $name$_body($parameters$) {
  constexpr int KD = $kd$, KH = $kh$, KW = $kw$, WARPS = 8, SEGMENT = 512, VEC = 4;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, plane = $H$ * $W$;
  const int segments = (plane + SEGMENT - 1) / SEGMENT;
  const float* x = $X$ + size_t(blockIdx.x) * $D$ * plane;
  float sum[KD][KH][KW] = {};
  for (int unit = warp; unit < $D$ * segments; unit += WARPS) {
    const int d = unit / segments, from = unit % segments * SEGMENT;
    float here[KH][KW] = {};
#pragma unroll
    for (int step = 0; step < SEGMENT; step += 32 * VEC) {
      const int at = from + step + lane * VEC;
      const Pack<float, VEC> values = load<WHOLE, VEC>(x + size_t(d) * plane + at, plane - at);
      if (WHOLE) {
        // A row is a multiple of VEC long, so these share it.
        const int h = at / $W$, w = at - h * $W$;
        float row[KW] = {};
#pragma unroll
        for (int i = 0; i < VEC; ++i)
#pragma unroll
          for (int c = 0; c < KW; ++c) row[c] += $name$_meets_w(w + i, c, $OW$) ? values.at[i] : 0.0f;
#pragma unroll
        for (int b = 0; b < KH; ++b)
          if ($name$_meets_h(h, b, $OH$))
#pragma unroll
            for (int c = 0; c < KW; ++c) here[b][c] += row[c];
      } else {
#pragma unroll
        for (int i = 0; i < VEC; ++i) {
          const int h = (at + i) / $W$, w = (at + i) - h * $W$;
#pragma unroll
          for (int b = 0; b < KH; ++b)
#pragma unroll
            for (int c = 0; c < KW; ++c)
              here[b][c] += $name$_meets_h(h, b, $OH$) && $name$_meets_w(w, c, $OW$) ? values.at[i] : 0.0f;
        }
      }
    }
#pragma unroll
    for (int a = 0; a < KD; ++a)
      if ($name$_meets_d(d, a, $OD$))
#pragma unroll
        for (int b = 0; b < KH; ++b)
#pragma unroll
          for (int c = 0; c < KW; ++c) sum[a][b][c] += here[b][c];
  }
  __shared__ float partial[WARPS][KD * KH * KW];
#pragma unroll
  for (int a = 0; a < KD; ++a)
#pragma unroll
    for (int b = 0; b < KH; ++b)
#pragma unroll
      for (int c = 0; c < KW; ++c) {
        float value = sum[a][b][c];
#pragma unroll
        for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
        if (lane == 0) partial[warp][(a * KH + b) * KW + c] = value;
      }
  __syncthreads();
  for (int tap = threadIdx.x; tap < KD * KH * KW; tap += 256) {
    float value = 0;
    for (int other = 0; other < WARPS; ++other) value += partial[other][tap];
    $S$[size_t(blockIdx.x) * (KD * KH * KW) + tap] = value;
  }
}

__global__ void __launch_bounds__(256) $name$($parameters$) {
  if ($W$ % 4 == 0) $name$_body<true>($forwarded$);
  else $name$_body<false>($forwarded$);
}
