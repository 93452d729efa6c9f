// SPDX-License-Identifier: Apache-2.0
//$ Four neighbouring lines of a factor by 16 depths: what a thread of split_across.cuh holds.

  const int line = blockIdx.x * 128 + threadIdx.x % 32 * 4, warp = threadIdx.x / 32;
  const float* __restrict__ from = $X$ + size_t(blockIdx.z) * $depth$ * $lines$;
  float4 held[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const int k = blockIdx.y * 128 + warp * 16 + i;
    held[i] = four_of<WHOLE>(from + size_t(k) * $lines$ + line, k < $depth$ ? $lines$ - line : 0);
  }
