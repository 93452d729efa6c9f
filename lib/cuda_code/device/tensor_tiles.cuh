// SPDX-License-Identifier: Apache-2.0
//$ Tiles of both factors in shared memory.
//$ needs tf32_halves.cuh

// In shared memory a line of a tile is padded by 4 floats, or a depth by 8, so that no two lanes meet in a bank.
template <bool ALONG_DEPTH, int TILE, int STEP>
__device__ constexpr int tile_floats = ALONG_DEPTH ? TILE * (STEP + 4) : STEP * (TILE + 8);

// TILE lines by STEP depths of a factor, zero beyond its edges. ALONG_DEPTH: neighbours in memory lie along the depth.
// WHOLE: packs of four are aligned and never cross an edge.
template <bool WHOLE, bool ALONG_DEPTH, int TILE, int STEP>
__device__ __forceinline__ void copy_tile(float* tile, const float* from, int line_start, int lines, int depth_start, int depth) {
#pragma unroll
  for (int pack = threadIdx.x; pack < TILE * STEP / 4; pack += 128) {
    const int line = ALONG_DEPTH ? pack / (STEP / 4) : pack % (TILE / 4) * 4;
    const int k = ALONG_DEPTH ? pack % (STEP / 4) * 4 : pack / (TILE / 4);
    const int at_line = line_start + line, at_depth = depth_start + k;
    const float* at = from + (ALONG_DEPTH ? size_t(at_line) * depth + at_depth : size_t(at_depth) * lines + at_line);
    float* to = tile + (ALONG_DEPTH ? line * (STEP + 4) + k : k * (TILE + 8) + line);
    if (WHOLE) {
      const bool inside = at_line < lines && at_depth < depth;
      copy_async<16>(to, inside ? at : from, inside);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const bool inside = at_line + (ALONG_DEPTH ? 0 : i) < lines && at_depth + (ALONG_DEPTH ? i : 0) < depth;
        copy_async<4>(to + i, inside ? at + i : from, inside);
      }
    }
  }
}

// 16 lines by 8 depths, as the tensor cores want them, as high and low halves of TF32 precision.
template <bool ALONG_DEPTH, int TILE, int STEP>
__device__ __forceinline__ void fragment(const float* tile, int line, int k, unsigned (&high)[4], unsigned (&low)[4]) {
  const int lane = threadIdx.x % 32;
  unsigned held[4];
  if (ALONG_DEPTH) {
    const unsigned at = unsigned(__cvta_generic_to_shared(tile + (line + lane % 16) * (STEP + 4) + k + lane / 16 * 4));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(held[0]), "=r"(held[1]), "=r"(held[2]), "=r"(held[3]) : "r"(at));
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) held[i] = __float_as_uint(tile[(k + lane % 4 + i / 2 * 4) * (TILE + 8) + line + lane / 4 + i % 2 * 8]);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) halves(__uint_as_float(held[i]), high[i], low[i]);
}

// Adds the product of a tile and of fragments, 16 columns by 8 depths, that `right` gives to the sums. Four warps own a quarter
// of them each. The tensor cores cut what they add up rather than round it: so they sum over DEPTHS steps of eight only, two
// where registers are left for the fragments.
template <bool LEFT_ALONG, int ROWS, int COLUMNS, int STEP, class Right>
__device__ __forceinline__ void multiply_fragments(float (&sum)[ROWS / 32][COLUMNS / 16][4], const float* left, const Right& right) {
  constexpr int DEPTHS = ROWS * COLUMNS > 8192 ? 1 : 2;
  const int row = threadIdx.x / 64 * (ROWS / 2);
#pragma unroll
  for (int k = 0; k < STEP; k += 8 * DEPTHS) {
    unsigned b_high[DEPTHS][COLUMNS / 32][4], b_low[DEPTHS][COLUMNS / 32][4];
#pragma unroll
    for (int d = 0; d < DEPTHS; ++d)
#pragma unroll
      for (int j = 0; j < COLUMNS / 32; ++j) right(j, k + d * 8, b_high[d][j], b_low[d][j]);
#pragma unroll
    for (int i = 0; i < ROWS / 32; ++i) {
      unsigned a_high[DEPTHS][4], a_low[DEPTHS][4];
#pragma unroll
      for (int d = 0; d < DEPTHS; ++d) fragment<LEFT_ALONG, ROWS, STEP>(left, row + i * 16, k + d * 8, a_high[d], a_low[d]);
#pragma unroll
      for (int j = 0; j < COLUMNS / 16; ++j) {
        float part[4] = {};
        float (&to)[4] = EXACT ? part : sum[i][j];
#pragma unroll
        for (int d = 0; EXACT && d < DEPTHS; ++d) {
          multiply_add(to, a_low[d], b_high[d][j / 2][j % 2], b_high[d][j / 2][j % 2 + 2]);
          multiply_add(to, a_high[d], b_low[d][j / 2][j % 2], b_low[d][j / 2][j % 2 + 2]);
        }
#pragma unroll
        for (int d = 0; d < DEPTHS; ++d) multiply_add(to, a_high[d], b_high[d][j / 2][j % 2], b_high[d][j / 2][j % 2 + 2]);
        if (!EXACT) continue;
#pragma unroll
        for (int q = 0; q < 4; ++q) sum[i][j][q] += part[q];
      }
    }
  }
}

// The same of two tiles.
template <bool LEFT_ALONG, bool RIGHT_ALONG, int ROWS, int COLUMNS, int STEP>
__device__ __forceinline__ void multiply_tiles(float (&sum)[ROWS / 32][COLUMNS / 16][4], const float* left, const float* right) {
  const int column = threadIdx.x / 32 % 2 * (COLUMNS / 2);
  multiply_fragments<LEFT_ALONG, ROWS, COLUMNS, STEP>(sum, left, [&](int j, int k, unsigned (&high)[4], unsigned (&low)[4]) {
    fragment<RIGHT_ALONG, COLUMNS, STEP>(right, column + j * 16, k, high, low);
  });
}

// The tile's share of the product from depth `begin` to `end`.
template <bool WHOLE, bool LEFT_ALONG, bool RIGHT_ALONG, int ROWS, int COLUMNS, int STEP, int STAGES>
__device__ __forceinline__ void tensor_tile(float (&sum)[ROWS / 32][COLUMNS / 16][4], const float* left, const float* right,
                                            int row_start, int column_start, int rows, int columns, int depth, int begin, int end) {
  extern __shared__ __align__(16) float tiles[];
  constexpr int LEFT = tile_floats<LEFT_ALONG, ROWS, STEP>, BOTH = LEFT + tile_floats<RIGHT_ALONG, COLUMNS, STEP>;
//$ with tile_stages.cuh; copy_tile = copy_tile; element = float
    multiply_tiles<LEFT_ALONG, RIGHT_ALONG, ROWS, COLUMNS, STEP>(sum, left_tile, left_tile + LEFT);
  }
}
