//@ of      straight_product.before.cu sha256:ef6d3adfc59e95d10d930213c7b81f592ea2d2aabcac4feb3d5d0172c41e1317
//@ tune    TILE_M = 128
//@ scratch H_2: float32[O, ceil_div(C, 32) * 32]
//@ scratch L: float32[O, ceil_div(C, 32) * 32]
//@ launch  straight_left<<<O, 128>>>(weight, H_2, L, C, ceil_div(C, 32) * 32)
//@ launch  straight_matmul<<<min(132, ceil_div(H * V, TILE_M) * ceil_div(O, 128) * B), 384, 218112>>>(tensor_map(H_2, axes(ceil_div(C, 32) * 32, O), strides(ceil_div(C, 32) * 32), box(32, 128), swizzle(128)), tensor_map(L, axes(ceil_div(C, 32) * 32, O), strides(ceil_div(C, 32) * 32), box(32, 128), swizzle(128)), X, bias, Y, O, H * V, C, B, (O * H) * V, C * (H * V))
// playbook: as written/warpgroups
#include <hopper.cuh>

__device__ __forceinline__ float rounded_to_tf32(float x) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return __uint_as_float(bits);
}

__global__ void __launch_bounds__(128) straight_left(const float* __restrict__ weight, float* __restrict__ H_2, float* __restrict__ L, int C, int n4) {
  for (int k = threadIdx.x; k < n4; k += 128) {
    const int from = k / 8 * 8 + k % 4 * 2 + k % 8 / 4;
    const float x = from < C ? weight[size_t(blockIdx.x) * C + from] : 0;
    const size_t to = size_t(blockIdx.x) * n4 + k;
    H_2[to] = rounded_to_tf32(x);
    L[to] = rounded_to_tf32(x - H_2[to]);
  }
}

__global__ void __launch_bounds__(384, 1) straight_matmul(const __grid_constant__ CUtensorMap left_map, const __grid_constant__ CUtensorMap left_low_map, const float* __restrict__ X, const float* __restrict__ bias, float* __restrict__ Y, int O, int n6, int C, int B, int n9, int n10) {
  using namespace hopper;
  // A slot holds 32 of depth: the left factor's rows, twice where they have two parts, then the right factor's columns, 32 of them to a piece
  // with a line of 128 bytes for each depth.
  constexpr int ROWS = 128, COLUMNS = TILE_M, OWN = COLUMNS / 128, HALVES = 2, STEP = 32, LEFT = ROWS * 128, RIGHT = COLUMNS * 128, SLOT = HALVES * LEFT + RIGHT, SLOTS = 196608 / SLOT;
  extern __shared__ char warpgroup_memory[];
  __shared__ __align__(8) u64 barriers[2 * SLOTS];
  const u32 ring_start = aligned(shared_address(warpgroup_memory)), full = shared_address(barriers), empty = full + 8 * SLOTS;
  char* const ring_memory = warpgroup_memory + (ring_start - shared_address(warpgroup_memory));
  if (threadIdx.x == 0) {
    for (int slot = 0; slot < SLOTS; ++slot) barrier_init(full + 8 * slot, 129), barrier_init(empty + 8 * slot, 8);
    barrier_init_done();
  }
  __syncthreads();
  Ring<SLOTS> ring;
  const int down = (O + ROWS - 1) / ROWS, across = (n6 + COLUMNS - 1) / COLUMNS, tiles = down * across * B;
  const bool whole = n6 % 4 == 0;
  if (warpgroup() == 0) {
    give_registers<64>();
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      const int row_start = tile % down * ROWS, column_start = tile / down % across * COLUMNS, batch = tile / down / across;
      const float* const from = X + size_t(batch) * n10;
      for (int k = 0; k < C; k += STEP, ring.next()) {
        wait(empty + 8 * ring.slot, ring.parity ^ 1);
        const u32 left = ring_start + ring.slot * SLOT, right = left + HALVES * LEFT, bar = full + 8 * ring.slot;
        if (threadIdx.x == 0) {
          arrive_expect(bar, HALVES * LEFT);
          load_2d(left, left_map, bar, k, row_start);
          if (HALVES > 1) load_2d(left + LEFT, left_low_map, bar, k, row_start);
        }
#pragma unroll
        for (int i = threadIdx.x; i < COLUMNS * STEP / 4; i += 128) {
          const int at = i % (COLUMNS / 4) * 4, depth = i / (COLUMNS / 4), column = column_start + at;
          const u32 to = right + at / 32 * 4096 + swizzled(depth, at % 32 * 4);
          const bool deep = k + depth < C;
          const float* const line = from + size_t(k + depth) * n6 + column;
          if (whole) {
            const bool inside = deep && column < n6;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(inside ? line : from), "r"(inside ? 16 : 0));
          } else {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
              const bool inside = deep && column + j < n6;
              asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to + 4 * j), "l"(inside ? line + j : from), "r"(inside ? 4 : 0));
            }
          }
        }
        asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(bar) : "memory");
      }
    }
  } else {
    take_registers<216>();
    const int half = warpgroup() - 1, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    // Results go through shared memory, 32 rows by 16 columns of a warp at a time, so that neighbours are written together.
    float* const staged = reinterpret_cast<float*>(ring_memory + SLOTS * SLOT) + (half * 4 + warp) * (32 * 20);
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      const int row_start = tile % down * ROWS, column_start = tile / down % across * COLUMNS, batch = tile / down / across;
  const int at0 = batch;
      float sum[OWN][ROWS / 2] = {};
      for (int k = 0; k < C; k += STEP, ring.next()) {
        wait(full + 8 * ring.slot, ring.parity);
        const u32 left = ring_start + ring.slot * SLOT;
        const char* const right = ring_memory + ring.slot * SLOT + HALVES * LEFT;
        u32 high[OWN][4][4], low[HALVES > 1 ? OWN : 1][4][4];
#pragma unroll
        for (int i = 0; i < OWN * 16; ++i) {
          const int own = i / 16, part = i / 4 % 4, at = (OWN * half + own) * 64 + warp * 16 + lane / 4 + i % 2 * 8;
          const float x = *reinterpret_cast<const float*>(right + at / 32 * 4096 + swizzled(part * 8 + lane % 4 * 2 + i / 2 % 2, at % 32 * 4));
          const float rounded = rounded_to_tf32(x);
          high[own][part][i % 4] = __float_as_uint(rounded);
          if (HALVES > 1) low[own][part][i % 4] = __float_as_uint(rounded_to_tf32(x - rounded));
        }
        // The corrections first: the tensor cores cut what they add, and less of a small sum. Sums leave them every 32 of depth.
        float large[OWN][ROWS / 2];
        product_fence();
#pragma unroll
        for (int own = 0; own < OWN; ++own) {
#pragma unroll
          for (int which = HALVES > 1 ? 0 : 2; which < 3; ++which)
#pragma unroll
            for (int part = 0; part < 4; ++part)
              multiply_tf32(HALVES > 1 ? large[own] : sum[own], which == 0 ? low[HALVES > 1 ? own : 0][part] : high[own][part], descriptor(left + (which == 1 ? LEFT : 0) + 32 * part),
                            HALVES == 1 || which > 0 || part > 0);
        }
        product_commit();
        product_wait<0>();
#pragma unroll
        for (int own = 0; own < OWN; ++own) hold(HALVES > 1 ? large[own] : sum[own]);
        if (lane == 0) arrive(empty + 8 * ring.slot);
        if (HALVES > 1) {
#pragma unroll
          for (int i = 0; i < OWN * ROWS / 2; ++i) sum[i / (ROWS / 2)][i % (ROWS / 2)] += large[i / (ROWS / 2)][i % (ROWS / 2)];
        }
      }
#pragma unroll
      for (int j = 0; j < OWN * ROWS / 32; ++j) {
        const int own = j / (ROWS / 32), first = j % (ROWS / 32) * 32;
#pragma unroll
        for (int i = 0; i < 16; ++i) staged[(i / 4 * 8 + lane % 4 * 2 + i % 2) * 20 + lane / 4 + i / 2 % 2 * 8] = sum[own][first / 2 + i];
        __syncwarp();
        const int column = column_start + (OWN * half + own) * 64 + warp * 16 + lane % 16;
#pragma unroll 4
        for (int i = lane / 16; i < 32; i += 2) {
          const int row = row_start + first + i;
          if (row >= O || column >= n6) continue;
          const float held = staged[i * 20 + lane % 16];
          const float produced = held;
          const float v1 = float(bias[row]);
          const float v2 = produced + v1;
          const float v3 = v2 < 0 ? 0 : v2;
          Y[size_t(at0) * n9 + size_t(row) * n6 + column] = v3;
        }
        __syncwarp();
      }
    }
  }
}
