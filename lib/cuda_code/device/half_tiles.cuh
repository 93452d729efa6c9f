// SPDX-License-Identifier: Apache-2.0
//$ Tiles of both factors of a product in 16 bits, multiplied as they are: products of two such are exact in float, in which they are
//$ summed. Fragments come from ldmatrix, turned around on the way where the depth is not what neighbours lie along.

template <int BYTES>
__device__ __forceinline__ void copy_half_async($element$* to, const $element$* from, bool inside) {
  const unsigned at = unsigned(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(inside ? BYTES : 0));
}

// In shared memory a line of a tile is padded by 8 elements, so that eight lines lie in different banks.
template <bool ALONG_DEPTH, int TILE, int STEP>
__device__ constexpr int $kind$_tile_elements = ALONG_DEPTH ? TILE * (STEP + 8) : STEP * (TILE + 8);

// TILE lines by STEP depths of a factor, zero beyond its edges. ALONG_DEPTH: neighbours in memory lie along the depth.
// WHOLE: packs of eight are aligned and never cross an edge.
template <bool WHOLE, bool ALONG_DEPTH, int TILE, int STEP>
__device__ __forceinline__ void copy_half_tile($element$* tile, const $element$* from, int line_start, int lines, int depth_start, int depth) {
#pragma unroll
  for (int pack = threadIdx.x; pack < TILE * STEP / 8; pack += 128) {
    const int line = ALONG_DEPTH ? pack / (STEP / 8) : pack % (TILE / 8) * 8;
    const int k = ALONG_DEPTH ? pack % (STEP / 8) * 8 : pack / (TILE / 8);
    const int at_line = line_start + line, at_depth = depth_start + k;
    const $element$* at = from + (ALONG_DEPTH ? size_t(at_line) * depth + at_depth : size_t(at_depth) * lines + at_line);
    $element$* to = tile + (ALONG_DEPTH ? line * (STEP + 8) + k : k * (TILE + 8) + line);
    if (WHOLE) {
      const bool inside = at_line < lines && at_depth < depth;
      copy_half_async<16>(to, inside ? at : from, inside);
    } else {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const bool inside = at_line + (ALONG_DEPTH ? 0 : i) < lines && at_depth + (ALONG_DEPTH ? i : 0) < depth;
        to[i] = inside ? at[i] : $element$(0.0f);
      }
    }
  }
}

// 16 lines by 16 depths, as the tensor cores want them.
template <bool ALONG_DEPTH, int TILE, int STEP>
__device__ __forceinline__ void half_fragment(const $element$* tile, int line, int k, unsigned (&held)[4]) {
  const int lane = threadIdx.x % 32;
  const $element$* from = ALONG_DEPTH ? tile + (line + lane % 16) * (STEP + 8) + k + lane / 16 * 8
                                      : tile + (k + lane / 16 * 8 + lane % 8) * (TILE + 8) + line + lane / 8 % 2 * 8;
  const unsigned at = unsigned(__cvta_generic_to_shared(from));
  if (ALONG_DEPTH)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(held[0]), "=r"(held[1]), "=r"(held[2]), "=r"(held[3]) : "r"(at));
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(held[0]), "=r"(held[1]), "=r"(held[2]), "=r"(held[3]) : "r"(at));
}

__device__ __forceinline__ void multiply_add_$kind$(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.$kind$.$kind$.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// The tile's share of the product from depth `begin` to `end`; four warps own a quarter of it each.
template <bool WHOLE, bool LEFT_ALONG, bool RIGHT_ALONG, int ROWS, int COLUMNS, int STEP, int STAGES>
__device__ __forceinline__ void half_tile(float (&sum)[ROWS / 32][COLUMNS / 16][4], const $element$* left, const $element$* right,
                                          int row_start, int column_start, int rows, int columns, int depth, int begin, int end) {
  extern __shared__ __align__(16) unsigned char half_tiles[];
  $element$* const tiles = reinterpret_cast<$element$*>(half_tiles);
  constexpr int LEFT = $kind$_tile_elements<LEFT_ALONG, ROWS, STEP>, BOTH = LEFT + $kind$_tile_elements<RIGHT_ALONG, COLUMNS, STEP>;
  const int row = threadIdx.x / 64 * (ROWS / 2), column = threadIdx.x / 32 % 2 * (COLUMNS / 2);
//$ with tile_stages.cuh; copy_tile = copy_half_tile
#pragma unroll
    for (int k = 0; k < STEP; k += 16) {
      unsigned b[COLUMNS / 32][4];
#pragma unroll
      for (int j = 0; j < COLUMNS / 32; ++j) half_fragment<RIGHT_ALONG, COLUMNS, STEP>(left_tile + LEFT, column + j * 16, k, b[j]);
#pragma unroll
      for (int i = 0; i < ROWS / 32; ++i) {
        unsigned a[4];
        half_fragment<LEFT_ALONG, ROWS, STEP>(left_tile, row + i * 16, k, a);
#pragma unroll
        for (int j = 0; j < COLUMNS / 16; ++j) multiply_add_$kind$(sum[i][j], a, b[j / 2][j % 2], b[j / 2][j % 2 + 2]);
      }
    }
  }
}
