// SPDX-License-Identifier: Apache-2.0
//$ Tiles of both factors of a product in float64, which the tensor cores multiply and add up as exactly as other cores do.

// In shared memory a line of a tile is padded by 4 doubles, or a depth by as many, so that no two lanes of a half warp meet in a bank.
template <bool ALONG_DEPTH, int TILE, int STEP>
__device__ constexpr int tile_doubles = ALONG_DEPTH ? TILE * (STEP + 4) : STEP * (TILE + 4);

template <int BYTES>
__device__ __forceinline__ void copy_double_async(double* to, const double* from, bool inside) {
  const unsigned at = unsigned(__cvta_generic_to_shared(to));
  if (BYTES == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(inside ? 16 : 0));
  else asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(at), "l"(from), "r"(inside ? 8 : 0));
}

// TILE lines by STEP depths of a factor, zero beyond its edges. ALONG_DEPTH: neighbours in memory lie along the depth.
// WHOLE: packs of two are aligned and never cross an edge.
template <bool WHOLE, bool ALONG_DEPTH, int TILE, int STEP>
__device__ __forceinline__ void copy_double_tile(double* tile, const double* from, int line_start, int lines, int depth_start, int depth) {
#pragma unroll
  for (int pack = threadIdx.x; pack < TILE * STEP / 2; pack += 128) {
    const int line = ALONG_DEPTH ? pack / (STEP / 2) : pack % (TILE / 2) * 2;
    const int k = ALONG_DEPTH ? pack % (STEP / 2) * 2 : pack / (TILE / 2);
    const int at_line = line_start + line, at_depth = depth_start + k;
    const double* at = from + (ALONG_DEPTH ? size_t(at_line) * depth + at_depth : size_t(at_depth) * lines + at_line);
    double* to = tile + (ALONG_DEPTH ? line * (STEP + 4) + k : k * (TILE + 4) + line);
    if (WHOLE) {
      const bool inside = at_line < lines && at_depth < depth;
      copy_double_async<16>(to, inside ? at : from, inside);
    } else {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const bool inside = at_line + (ALONG_DEPTH ? 0 : i) < lines && at_depth + (ALONG_DEPTH ? i : 0) < depth;
        copy_double_async<8>(to + i, inside ? at + i : from, inside);
      }
    }
  }
}

// A lane's element of 8 lines by 4 depths.
template <bool ALONG_DEPTH, int TILE, int STEP>
__device__ __forceinline__ double double_fragment(const double* tile, int line, int k) {
  const int at_line = line + threadIdx.x % 32 / 4, at_depth = k + threadIdx.x % 4;
  return tile[ALONG_DEPTH ? at_line * (STEP + 4) + at_depth : at_depth * (TILE + 4) + at_line];
}

// 16 rows by 4 depths times 4 depths by 8 columns. Before compute capability 9.0 an instruction has 8 rows.
__device__ __forceinline__ void multiply_add_double(double (&sum)[4], const double (&a)[2], double b) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3]) : "d"(a[0]), "d"(a[1]), "d"(b));
#else
#pragma unroll
  for (int half = 0; half < 2; ++half)
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(sum[2 * half]), "+d"(sum[2 * half + 1]) : "d"(a[half]), "d"(b));
#endif
}

// The tile's share of the product from depth `begin` to `end`; four warps own a quarter of it each.
template <bool WHOLE, bool LEFT_ALONG, bool RIGHT_ALONG, int ROWS, int COLUMNS, int STEP, int STAGES>
__device__ __forceinline__ void double_tile(double (&sum)[ROWS / 32][COLUMNS / 16][4], const double* left, const double* right,
                                            int row_start, int column_start, int rows, int columns, int depth, int begin, int end) {
  extern __shared__ __align__(16) double double_tiles[];
  double* const tiles = double_tiles;
  constexpr int LEFT = tile_doubles<LEFT_ALONG, ROWS, STEP>, BOTH = LEFT + tile_doubles<RIGHT_ALONG, COLUMNS, STEP>;
  const int row = threadIdx.x / 64 * (ROWS / 2), column = threadIdx.x / 32 % 2 * (COLUMNS / 2);
//$ with tile_stages.cuh; copy_tile = copy_double_tile; element = double
#pragma unroll
    for (int k = 0; k < STEP; k += 4) {
      double b[COLUMNS / 16];
#pragma unroll
      for (int j = 0; j < COLUMNS / 16; ++j) b[j] = double_fragment<RIGHT_ALONG, COLUMNS, STEP>(left_tile + LEFT, column + j * 8, k);
#pragma unroll
      for (int i = 0; i < ROWS / 32; ++i) {
        const double a[2] = {double_fragment<LEFT_ALONG, ROWS, STEP>(left_tile, row + i * 16, k), double_fragment<LEFT_ALONG, ROWS, STEP>(left_tile, row + i * 16 + 8, k)};
#pragma unroll
        for (int j = 0; j < COLUMNS / 16; ++j) multiply_add_double(sum[i][j], a, b[j]);
      }
    }
  }
}
