//@ of      warpgroup_product.before.cu sha256:cd6e0a9b5f0464971ca8c6d081304dec427bd01d26346ee3908b92441fae0204
//@ tune    TILE_M = 128 | 64
//@ scratch H: float16[1, N, ceil_div(K, 8) * 8]
//@ scratch L: float16[1, N, ceil_div(K, 8) * 8]
//@ scratch R: float32[1, N]
//@ scratch H_2: float16[1, M, ceil_div(K, 8) * 8]
//@ scratch L_2: float16[1, M, ceil_div(K, 8) * 8]
//@ scratch R_2: float32[1, M]
//@ launch  split_left<<<N, 256>>>(X, H, L, R, K, ceil_div(K, 8) * 8)
//@ launch  split_right<<<M, 256>>>(W, H_2, L_2, R_2, K, ceil_div(K, 8) * 8)
//@ launch  warpgroup_matmul<<<min(132, ceil_div(M, TILE_M) * ceil_div(N, 128) * 1), 384, 218112>>>(tensor_map(H, axes(K, N), strides(ceil_div(K, 8) * 8), box(64, 128), swizzle(128)), tensor_map(L, axes(K, N), strides(ceil_div(K, 8) * 8), box(64, 128), swizzle(128)), tensor_map(H_2, axes(K, M), strides(ceil_div(K, 8) * 8), box(64, TILE_M), swizzle(128)), tensor_map(L_2, axes(K, M), strides(ceil_div(K, 8) * 8), box(64, TILE_M), swizzle(128)), bias, Y, N, M, K, R_2, R)
//@ launch  warpgroup_matmul_float32<<<dim3(ceil_div(M, 128), ceil_div(N, 128), 1), 256>>>(X, W, bias, Y, N, M, K, R_2, R)
// playbook: as written/warpgroups
#include <cuda_fp16.h>
#include <hopper.cuh>

// 2^e with largest · 2^e in [2^14, 2^15): the largest half is 65504.
__device__ __forceinline__ float scale_of_line(float largest) { return largest > 0 ? ldexpf(1.0f, max(-126, min(126, 14 - ilogbf(largest)))) : 1.0f; }

// Of a line the largest magnitude, infinity where there are infinities or NaN; and the smallest magnitude that is the largest of some
// neighbours, without those that are all zero.
struct Range {
  float largest = 0, weakest = __int_as_float(0x7f800000);
  __device__ __forceinline__ void join(float theirs, float their_weakest) { largest = fmaxf(largest, theirs), weakest = fminf(weakest, their_weakest); }
  // Neighbours by their largest magnitude, and the sum of all, in which infinities and NaN stay.
  __device__ __forceinline__ void take(float most, float sum) {
    most = sum < __int_as_float(0x7f800000) ? most : __int_as_float(0x7f800000);
    join(most, most > 0 ? most : __int_as_float(0x7f800000));
  }
  __device__ __forceinline__ void take(float4 x) {
    take(fmaxf(fmaxf(fabsf(x.x), fabsf(x.y)), fmaxf(fabsf(x.z), fabsf(x.w))), fabsf(x.x) + fabsf(x.y) + (fabsf(x.z) + fabsf(x.w)));
  }
  // The ranges of all 256 threads of a block, whose eight warps leave theirs in shared memory.
  __device__ __forceinline__ void join_block(float2 (&by_warp)[8]) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) join(__shfl_xor_sync(0xffffffff, largest, step), __shfl_xor_sync(0xffffffff, weakest, step));
    if (threadIdx.x % 32 == 0) by_warp[threadIdx.x / 32] = make_float2(largest, weakest);
    __syncthreads();
#pragma unroll
    for (int warp = 0; warp < 8; ++warp) join(by_warp[warp].x, by_warp[warp].y);
  }
};

// What undoes the scale of a line. NaN where halves cannot hold the line as float32 does: infinities, NaN, or neighbours so much smaller
// than the largest that they lose bits, which results show where the larger ones meet zeros.
__device__ __forceinline__ float undoing(float scale, const Range& line) {
  const bool odd = !(line.largest < __int_as_float(0x7f800000)) || (line.largest > 0 && (line.largest < 1e-30f || line.weakest < 0x1p-22f * line.largest));
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

template <bool WHOLE>
__device__ __forceinline__ void split_left_body(const float* __restrict__ X, __half* __restrict__ H, __half* __restrict__ L, float* __restrict__ R, int K, int n5, float2 (&by_warp)[8]) {
  constexpr int HELD = 4, STEP = 1024;
  const int start = threadIdx.x * 4;
  const float* __restrict__ from = X + size_t(blockIdx.x) * K;
  const size_t first = size_t(blockIdx.x) * n5;
  float4 held[HELD];
  Range line;
#pragma unroll
  for (int i = 0; i < HELD; ++i) held[i] = four_of<WHOLE>(from + start + i * STEP, K - start - i * STEP);
#pragma unroll
  for (int i = 0; i < HELD; ++i) line.take(held[i]);
  for (int k = start + HELD * STEP; k < K; k += STEP) line.take(four_of<WHOLE>(from + k, K - k));
  line.join_block(by_warp);
  const float scale = scale_of_line(line.largest);
  if (threadIdx.x == 0) R[blockIdx.x] = undoing(scale, line);
  const auto put = [&](float4 x, int k) {
    x = scaled(x, make_float4(scale, scale, scale, scale));
    const uint2 high = high_halves(x);
    *reinterpret_cast<uint2*>(H + first + k) = high;
    *reinterpret_cast<uint2*>(L + first + k) = low_halves(x, high);
  };
#pragma unroll
  for (int i = 0; i < HELD; ++i)
    if (start + i * STEP < K) put(held[i], start + i * STEP);
  for (int k = start + HELD * STEP; k < K; k += STEP) put(four_of<WHOLE>(from + k, K - k), k);
}

__global__ void __launch_bounds__(256) split_left(const float* __restrict__ X, __half* __restrict__ H, __half* __restrict__ L, float* __restrict__ R, int K, int n5) {
  __shared__ float2 by_warp[8];
  if (K % 4 == 0) split_left_body<true>(X, H, L, R, K, n5, by_warp);
  else split_left_body<false>(X, H, L, R, K, n5, by_warp);
}

template <bool WHOLE>
__device__ __forceinline__ void split_right_body(const float* __restrict__ W, __half* __restrict__ H_2, __half* __restrict__ L_2, float* __restrict__ R_2, int K, int n5, float2 (&by_warp)[8]) {
  constexpr int HELD = 4, STEP = 1024;
  const int start = threadIdx.x * 4;
  const float* __restrict__ from = W + size_t(blockIdx.x) * K;
  const size_t first = size_t(blockIdx.x) * n5;
  float4 held[HELD];
  Range line;
#pragma unroll
  for (int i = 0; i < HELD; ++i) held[i] = four_of<WHOLE>(from + start + i * STEP, K - start - i * STEP);
#pragma unroll
  for (int i = 0; i < HELD; ++i) line.take(held[i]);
  for (int k = start + HELD * STEP; k < K; k += STEP) line.take(four_of<WHOLE>(from + k, K - k));
  line.join_block(by_warp);
  const float scale = scale_of_line(line.largest);
  if (threadIdx.x == 0) R_2[blockIdx.x] = undoing(scale, line);
  const auto put = [&](float4 x, int k) {
    x = scaled(x, make_float4(scale, scale, scale, scale));
    const uint2 high = high_halves(x);
    *reinterpret_cast<uint2*>(H_2 + first + k) = high;
    *reinterpret_cast<uint2*>(L_2 + first + k) = low_halves(x, high);
  };
#pragma unroll
  for (int i = 0; i < HELD; ++i)
    if (start + i * STEP < K) put(held[i], start + i * STEP);
  for (int k = start + HELD * STEP; k < K; k += STEP) put(four_of<WHOLE>(from + k, K - k), k);
}

__global__ void __launch_bounds__(256) split_right(const float* __restrict__ W, __half* __restrict__ H_2, __half* __restrict__ L_2, float* __restrict__ R_2, int K, int n5) {
  __shared__ float2 by_warp[8];
  if (K % 4 == 0) split_right_body<true>(W, H_2, L_2, R_2, K, n5, by_warp);
  else split_right_body<false>(W, H_2, L_2, R_2, K, n5, by_warp);
}

__global__ void __launch_bounds__(384, 1) warpgroup_matmul(const __grid_constant__ CUtensorMap left_map, const __grid_constant__ CUtensorMap left_low_map, const __grid_constant__ CUtensorMap right_map, const __grid_constant__ CUtensorMap right_low_map, const float* __restrict__ bias, float* __restrict__ Y, int N, int M, int K, const float* __restrict__ R_2, const float* __restrict__ R) {
  using namespace hopper;
  // A slot holds 128 bytes of depth of each row and column, twice where a factor has two halves: left, then right. Of 128 rows each
  // warpgroup has half, of 64 it has all, and half of the columns.
  constexpr int ROWS = 128, COLUMNS = TILE_M, OWN = COLUMNS * ROWS / 128, HALVES = 2, STEP = 64, LEFT = ROWS * 128, RIGHT = COLUMNS * 128, SLOT = HALVES * (LEFT + RIGHT), SLOTS = 196608 / SLOT;
  extern __shared__ char warpgroup_memory[];
  __shared__ __align__(8) u64 barriers[2 * SLOTS];
  const u32 ring_start = aligned(shared_address(warpgroup_memory)), full = shared_address(barriers), empty = full + 8 * SLOTS;
  if (threadIdx.x == 0) {
    for (int slot = 0; slot < SLOTS; ++slot) barrier_init(full + 8 * slot, 1), barrier_init(empty + 8 * slot, 2);
    barrier_init_done();
  }
  __syncthreads();
  Ring<SLOTS> ring;
  const int tiles = (M + COLUMNS - 1) / COLUMNS * ((N + 127) / 128) * 1;
  if (warpgroup() == 0) {
    give_registers<40>();
    if (threadIdx.x == 0)
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      const int across = (M + COLUMNS - 1) / COLUMNS, down = (N + ROWS - 1) / ROWS, together = max(1, COLUMNS / 16);
      const int inner = tile;
      const int first = inner / (together * across) * together, high = min(down - first, together), within = inner % (together * across);
      const int row_start = (first + within % high) * ROWS, column_start = within / high * COLUMNS;
  const int begin = 0, end = K;
        for (int k = begin; k < end; k += STEP, ring.next()) {
          wait(empty + 8 * ring.slot, ring.parity ^ 1);
          const u32 left = ring_start + ring.slot * SLOT, right = left + HALVES * LEFT, bar = full + 8 * ring.slot;
          arrive_expect(bar, SLOT);
          load_2d(left, left_map, bar, k, row_start);
          load_2d(left + LEFT, left_low_map, bar, k, row_start);
          load_2d(right, right_map, bar, k, column_start);
          load_2d(right + RIGHT, right_low_map, bar, k, column_start);
        }
      }
  } else {
    take_registers<232>();
    const int half = warpgroup() - 1, own_row = ROWS == 128 ? 64 * half : 0, own_column = ROWS == 128 ? 0 : OWN * half, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    // Results go through shared memory, 16 rows by 32 columns of a warp at a time, so that neighbours are written together.
    float* const staged = reinterpret_cast<float*>(warpgroup_memory + (ring_start - shared_address(warpgroup_memory)) + SLOTS * SLOT) + (half * 4 + warp) * (16 * 40);
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      const int across = (M + COLUMNS - 1) / COLUMNS, down = (N + ROWS - 1) / ROWS, together = max(1, COLUMNS / 16);
      const int inner = tile;
      const int first = inner / (together * across) * together, high = min(down - first, together), within = inner % (together * across);
      const int row_start = (first + within % high) * ROWS, column_start = within / high * COLUMNS;
  const int begin = 0, end = K;
      float sum[OWN / 2] = {};
      if (HALVES == 1) {
        u32 before = 0;
        for (int k = begin; k < end; k += STEP, ring.next()) {
          wait(full + 8 * ring.slot, ring.parity);
          const u32 left = ring_start + ring.slot * SLOT + own_row * 128, right = ring_start + ring.slot * SLOT + LEFT + own_column * 128;
          product_fence();
#pragma unroll
          for (int part = 0; part < 4; ++part) multiply_f16<0, 0>(sum, descriptor(left + 32 * part), descriptor(right + 32 * part), 1);
          product_commit();
          product_wait<1>();
          if (k > begin && threadIdx.x % 128 == 0) arrive(empty + 8 * before);
          before = ring.slot;
        }
        product_wait<0>();
        if (begin < end && threadIdx.x % 128 == 0) arrive(empty + 8 * before);
      } else {
        // Sums of the large product leave the tensor cores every 64 of depth: those cut what they add. The corrections, 2^11 times too
        // large, are so small that they may stay.
        float large[OWN / 2], corrections[OWN / 2] = {};
        for (int k = begin; k < end; k += STEP, ring.next()) {
          wait(full + 8 * ring.slot, ring.parity);
          const u32 left_high = ring_start + ring.slot * SLOT + own_row * 128, right_high = ring_start + ring.slot * SLOT + HALVES * LEFT + own_column * 128;
          product_fence();
#pragma unroll
          for (int which = 0; which < 3; ++which) {
            const u32 left = which == 1 ? left_high + LEFT : left_high, right = which == 0 ? right_high + RIGHT : right_high;
#pragma unroll
            for (int part = 0; part < 4; ++part) multiply_f16<0, 0>(which < 2 ? corrections : large, descriptor(left + 32 * part), descriptor(right + 32 * part), which < 2 || part > 0);
          }
          product_commit();
          product_wait<0>();
          hold(large);
          if (threadIdx.x % 128 == 0) arrive(empty + 8 * ring.slot);
#pragma unroll
          for (int i = 0; i < OWN / 2; ++i) sum[i] += large[i];
        }
        hold(corrections);
#pragma unroll
        for (int i = 0; i < OWN / 2; ++i) sum[i] += corrections[i] * 0x1p-11f;
      }
      hold(sum);
#pragma unroll
      for (int j = 0; j < OWN / 32; ++j) {
#pragma unroll
        for (int i = 0; i < 16; i += 2)
          *reinterpret_cast<float2*>(staged + (lane / 4 + i / 2 % 2 * 8) * 40 + i / 4 * 8 + lane % 4 * 2) = make_float2(sum[16 * j + i], sum[16 * j + i + 1]);
        __syncwarp();
        const int column = column_start + own_column + 32 * j + lane;
#pragma unroll 4
        for (int i = 0; i < 16; ++i) {
          const int row = row_start + own_row + 16 * warp + i;
          if (row >= N || column >= M) continue;
          const float held = staged[i * 40 + lane];
          const float produced = held * fminf(R[row], R_2[column]) * fmaxf(R[row], R_2[column]);
          const float v1 = float(bias[column]);
          const float v2 = produced + v1;
          const float v3 = v2 < 0 ? 0 : v2;
          Y[size_t(row) * M + column] = v3;
        }
        __syncwarp();
      }
    }
  }
}

template <bool WHOLE>
__device__ __forceinline__ void warpgroup_matmul_float32_body(const float* __restrict__ X, const float* __restrict__ W, const float* __restrict__ bias, float* __restrict__ Y, int N, int M, int K, const float* __restrict__ R_2, const float* __restrict__ R, float left_tile[2][16][128 + 4], float right_tile[2][16][128 + 4]) {
  constexpr int TN = 128 / 16, TM = 128 / 16;
  const float* left = X;
  const float* right = W;
  const int row_start = blockIdx.y * 128, column_start = blockIdx.x * 128;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  // NaN undoes no scale: of these lines there are no halves.
  const int line = threadIdx.x % 128 + (threadIdx.x < 128 ? row_start : column_start);
  const bool held = threadIdx.x < 128 ? line >= N || R[line] > 0 : line >= M || R_2[line] > 0;
  if (!__syncthreads_or(!held)) return;
  float4 left_held[128 * 16 / 1024], right_held[128 * 16 / 1024];
  float sum[TN][TM] = {};
  fetch_tile<WHOLE, true, 128, 16>(left_held, left, row_start, N, 0, K);
  fetch_tile<WHOLE, true, 128, 16>(right_held, right, column_start, M, 0, K);
  place_tile<true, 128, 16>(left_held, left_tile[0]);
  place_tile<true, 128, 16>(right_held, right_tile[0]);
  __syncthreads();
  int now = 0;
  for (int start = 0; start < K; start += 16) {
    const bool more = start + 16 < K;
    if (more) {
      fetch_tile<WHOLE, true, 128, 16>(left_held, left, row_start, N, start + 16, K);
      fetch_tile<WHOLE, true, 128, 16>(right_held, right, column_start, M, start + 16, K);
    }
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      float a[TN], b[TM];
#pragma unroll
      for (int i = 0; i < TN; i += 4)
        *reinterpret_cast<float4*>(&a[i]) = *reinterpret_cast<const float4*>(&left_tile[now][k][i * 16 + ty * 4]);
#pragma unroll
      for (int j = 0; j < TM; j += 4)
        *reinterpret_cast<float4*>(&b[j]) = *reinterpret_cast<const float4*>(&right_tile[now][k][j * 16 + tx * 4]);
#pragma unroll
      for (int i = 0; i < TN; ++i)
#pragma unroll
        for (int j = 0; j < TM; ++j) sum[i][j] += a[i] * b[j];
    }
    if (more) {
      place_tile<true, 128, 16>(left_held, left_tile[now ^ 1]);
      place_tile<true, 128, 16>(right_held, right_tile[now ^ 1]);
      __syncthreads();
      now ^= 1;
    }
  }
#pragma unroll
  for (int i = 0; i < TN; ++i) {
    const int row = row_start + i / 4 * 64 + ty * 4 + i % 4;
    if (row >= N) continue;
#pragma unroll
    for (int j = 0; j < TM; ++j) {
      const int column = column_start + j / 4 * 64 + tx * 4 + j % 4;
      if (column >= M) continue;
      const float produced = sum[i][j];
      const float v1 = float(bias[column]);
      const float v2 = produced + v1;
      const float v3 = v2 < 0 ? 0 : v2;
      Y[size_t(row) * M + column] = v3;
    }
  }
}

__global__ void __launch_bounds__(256) warpgroup_matmul_float32(const float* __restrict__ X, const float* __restrict__ W, const float* __restrict__ bias, float* __restrict__ Y, int N, int M, int K, const float* __restrict__ R_2, const float* __restrict__ R) {
  __shared__ __align__(16) float left_tile[2][16][128 + 4], right_tile[2][16][128 + 4];
  if (K % 4 == 0) warpgroup_matmul_float32_body<true>(X, W, bias, Y, N, M, K, R_2, R, left_tile, right_tile);
  else warpgroup_matmul_float32_body<false>(X, W, bias, Y, N, M, K, R_2, R, left_tile, right_tile);
}
