// SPDX-License-Identifier: Apache-2.0
//$ A tile of one factor goes from memory to registers and from there to shared memory, where it stands by depth.

// TILE lines by STEP depths of a factor, four elements at a time. ALONG_DEPTH: neighbours in memory lie along the depth.
// WHOLE: packs of four are aligned and never cross an edge.
template <bool WHOLE, bool ALONG_DEPTH, int TILE, int STEP>
__device__ __forceinline__ void fetch_tile(float4 (&held)[TILE * STEP / 1024], const float* __restrict__ from, int line_start,
                                           int lines, int depth_start, int depth) {
#pragma unroll
  for (int p = 0; p < TILE * STEP / 1024; ++p) {
    const int pack = p * 256 + threadIdx.x;
    const int line = line_start + (ALONG_DEPTH ? pack / (STEP / 4) : pack % (TILE / 4) * 4);
    const int k = depth_start + (ALONG_DEPTH ? pack % (STEP / 4) * 4 : pack / (TILE / 4));
    const float* at = from + (ALONG_DEPTH ? size_t(line) * depth + k : size_t(k) * lines + line);
    if (WHOLE) {
      held[p] = line < lines && k < depth ? *reinterpret_cast<const float4*>(at) : make_float4(0, 0, 0, 0);
    } else if (ALONG_DEPTH) {
      const int left = line < lines ? depth - k : 0;
      held[p] = make_float4(left > 0 ? at[0] : 0, left > 1 ? at[1] : 0, left > 2 ? at[2] : 0, left > 3 ? at[3] : 0);
    } else {
      const int left = k < depth ? lines - line : 0;
      held[p] = make_float4(left > 0 ? at[0] : 0, left > 1 ? at[1] : 0, left > 2 ? at[2] : 0, left > 3 ? at[3] : 0);
    }
  }
}

template <bool ALONG_DEPTH, int TILE, int STEP>
__device__ __forceinline__ void place_tile(const float4 (&held)[TILE * STEP / 1024], float (&tile)[STEP][TILE + 4]) {
#pragma unroll
  for (int p = 0; p < TILE * STEP / 1024; ++p) {
    const int pack = p * 256 + threadIdx.x;
    if (ALONG_DEPTH) {
      const int line = pack / (STEP / 4), k = pack % (STEP / 4) * 4;
      tile[k][line] = held[p].x;
      tile[k + 1][line] = held[p].y;
      tile[k + 2][line] = held[p].z;
      tile[k + 3][line] = held[p].w;
    } else {
      *reinterpret_cast<float4*>(&tile[pack / (TILE / 4)][pack % (TILE / 4) * 4]) = held[p];
    }
  }
}
