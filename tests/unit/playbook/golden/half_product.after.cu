//@ of      half_product.before.cu sha256:92205d26c15e7dfe384bb85dac8f451eebc342b945f8ee41bf6f2130757d31ee
//@ tune    TILE_N = 128 | 64
//@ tune    TILE_M = 128 | 64
//@ launch  tensor_matmul<<<dim3(ceil_div(M, TILE_M) * ceil_div(N, TILE_N)), 128, (TILE_N + TILE_M > 192 ? 3 : 4) * (TILE_N * (32 + 8) + TILE_M * (32 + 8)) * 2>>>(X, W, B, Y, N, M, K)
// playbook: as written/fused
#include <cuda_fp16.h>

template <int BYTES>
__device__ __forceinline__ void copy_half_async(__half* to, const __half* from, bool inside) {
  const unsigned at = unsigned(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(inside ? BYTES : 0));
}

// In shared memory a line of a tile is padded by 8 elements, so that eight lines lie in different banks.
template <bool ALONG_DEPTH, int TILE, int STEP>
__device__ constexpr int f16_tile_elements = ALONG_DEPTH ? TILE * (STEP + 8) : STEP * (TILE + 8);

// TILE lines by STEP depths of a factor, zero beyond its edges. ALONG_DEPTH: neighbours in memory lie along the depth.
// WHOLE: packs of eight are aligned and never cross an edge.
template <bool WHOLE, bool ALONG_DEPTH, int TILE, int STEP>
__device__ __forceinline__ void copy_half_tile(__half* tile, const __half* from, int line_start, int lines, int depth_start, int depth) {
#pragma unroll
  for (int pack = threadIdx.x; pack < TILE * STEP / 8; pack += 128) {
    const int line = ALONG_DEPTH ? pack / (STEP / 8) : pack % (TILE / 8) * 8;
    const int k = ALONG_DEPTH ? pack % (STEP / 8) * 8 : pack / (TILE / 8);
    const int at_line = line_start + line, at_depth = depth_start + k;
    const __half* at = from + (ALONG_DEPTH ? size_t(at_line) * depth + at_depth : size_t(at_depth) * lines + at_line);
    __half* to = tile + (ALONG_DEPTH ? line * (STEP + 8) + k : k * (TILE + 8) + line);
    if (WHOLE) {
      const bool inside = at_line < lines && at_depth < depth;
      copy_half_async<16>(to, inside ? at : from, inside);
    } else {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const bool inside = at_line + (ALONG_DEPTH ? 0 : i) < lines && at_depth + (ALONG_DEPTH ? i : 0) < depth;
        to[i] = inside ? at[i] : __half(0.0f);
      }
    }
  }
}

// 16 lines by 16 depths, as the tensor cores want them.
template <bool ALONG_DEPTH, int TILE, int STEP>
__device__ __forceinline__ void half_fragment(const __half* tile, int line, int k, unsigned (&held)[4]) {
  const int lane = threadIdx.x % 32;
  const __half* from = ALONG_DEPTH ? tile + (line + lane % 16) * (STEP + 8) + k + lane / 16 * 8
                                      : tile + (k + lane / 16 * 8 + lane % 8) * (TILE + 8) + line + lane / 8 % 2 * 8;
  const unsigned at = unsigned(__cvta_generic_to_shared(from));
  if (ALONG_DEPTH)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(held[0]), "=r"(held[1]), "=r"(held[2]), "=r"(held[3]) : "r"(at));
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(held[0]), "=r"(held[1]), "=r"(held[2]), "=r"(held[3]) : "r"(at));
}

__device__ __forceinline__ void multiply_add_f16(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// The tile's share of the product from depth `begin` to `end`; four warps own a quarter of it each.
template <bool WHOLE, bool LEFT_ALONG, bool RIGHT_ALONG, int ROWS, int COLUMNS, int STEP, int STAGES>
__device__ __forceinline__ void half_tile(float (&sum)[ROWS / 32][COLUMNS / 16][4], const __half* left, const __half* right,
                                          int row_start, int column_start, int rows, int columns, int depth, int begin, int end) {
  extern __shared__ __align__(16) unsigned char half_tiles[];
  __half* const tiles = reinterpret_cast<__half*>(half_tiles);
  constexpr int LEFT = f16_tile_elements<LEFT_ALONG, ROWS, STEP>, BOTH = LEFT + f16_tile_elements<RIGHT_ALONG, COLUMNS, STEP>;
  const int row = threadIdx.x / 64 * (ROWS / 2), column = threadIdx.x / 32 % 2 * (COLUMNS / 2);
  const auto copy = [&](int stage, int k) {
    if (k < end) {
      copy_half_tile<WHOLE, LEFT_ALONG, ROWS, STEP>(tiles + stage * BOTH, left, row_start, rows, k, depth);
      copy_half_tile<WHOLE, RIGHT_ALONG, COLUMNS, STEP>(tiles + stage * BOTH + LEFT, right, column_start, columns, k, depth);
    }
    asm volatile("cp.async.commit_group;");
  };
#pragma unroll
  for (int stage = 0; stage < STAGES - 1; ++stage) copy(stage, begin + stage * STEP);
  int now = 0;
  for (int start = begin; start < end; start += STEP) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
    __syncthreads();
    copy((now + STAGES - 1) % STAGES, start + (STAGES - 1) * STEP);
    const __half* left_tile = tiles + now * BOTH;
    now = (now + 1) % STAGES;
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
        for (int j = 0; j < COLUMNS / 16; ++j) multiply_add_f16(sum[i][j], a, b[j / 2][j % 2], b[j / 2][j % 2 + 2]);
      }
    }
  }
}

__global__ void __launch_bounds__(128, 2) tensor_matmul(const __half* __restrict__ X, const __half* __restrict__ W, const __half* __restrict__ B, __half* __restrict__ Y, int N, int M, int K) {
  const __half* left = X;
  const __half* right = W;
  const int begin = 0, end = K;
  // Eight rows of tiles are walked together, so that the blocks at work share tiles of both factors in the L2.
  const int across = (M + TILE_M - 1) / TILE_M, down = (N + TILE_N - 1) / TILE_N;
  const int first = blockIdx.x / (8 * across) * 8, high = min(down - first, 8), within = blockIdx.x % (8 * across);
  const int row_start = (first + within % high) * TILE_N, column_start = within / high * TILE_M;
  float sum[TILE_N / 32][TILE_M / 16][4] = {};
  if (K % 8 == 0)
    half_tile<true, true, true, TILE_N, TILE_M, 32, (TILE_N + TILE_M > 192 ? 3 : 4)>(sum, left, right, row_start, column_start, N, M, K, begin, end);
  else
    half_tile<false, true, true, TILE_N, TILE_M, 32, (TILE_N + TILE_M > 192 ? 3 : 4)>(sum, left, right, row_start, column_start, N, M, K, begin, end);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < TILE_N / 32; ++i)
#pragma unroll
    for (int j = 0; j < TILE_M / 16; ++j)
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        const int row = row_start + warp / 2 * (TILE_N / 2) + i * 16 + lane / 4 + q / 2 * 8;
        const int column = column_start + warp % 2 * (TILE_M / 2) + j * 8 + lane % 4 * 2 + q % 2;
        if (row >= N || column >= M) continue;
        const float produced = sum[i][j][q];
        const float v1 = float(B[column]);
        const float v2 = produced + v1;
        const float v3 = v2 < 0 ? 0 : v2;
        const float v4 = v3;
        Y[size_t(row) * M + column] = __half(v4);
      }
}
