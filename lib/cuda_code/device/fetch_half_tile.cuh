// SPDX-License-Identifier: Apache-2.0
//$ fetch_tile of a factor in 16 bits, which becomes float on the way.
//$ needs fetch_tile.cuh pack.cuh

template <bool WHOLE, bool ALONG_DEPTH, int TILE, int STEP, typename Half>
__device__ __forceinline__ void fetch_tile(float4 (&held)[TILE * STEP / 1024], const Half* __restrict__ from, int line_start,
                                           int lines, int depth_start, int depth) {
#pragma unroll
  for (int p = 0; p < TILE * STEP / 1024; ++p) {
    const int pack = p * 256 + threadIdx.x;
    const int line = line_start + (ALONG_DEPTH ? pack / (STEP / 4) : pack % (TILE / 4) * 4);
    const int k = depth_start + (ALONG_DEPTH ? pack % (STEP / 4) * 4 : pack / (TILE / 4));
    const int left = ALONG_DEPTH ? (line < lines ? depth - k : 0) : k < depth ? lines - line : 0;
    const Pack<Half, 4> four = load<WHOLE, 4>(from + (ALONG_DEPTH ? size_t(line) * depth + k : size_t(k) * lines + line), left);
    held[p] = make_float4(float(four.at[0]), float(four.at[1]), float(four.at[2]), float(four.at[3]));
  }
}
