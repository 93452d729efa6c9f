//@ of      warpgroup_convolution.before.cu sha256:7534b4cf86815598db3fc738ce5ce50e6f2f3a57587727d93985c6b83a37d81c
//@ tune    TILE_O = 64 | 32
//@ tune    TILE_P = 128 | 64
//@ tune    STEP = 16 | 8
//@ scratch WH: float16[9, O, ceil_div(C, 8) * 8]
//@ scratch WL: float16[9, O, ceil_div(C, 8) * 8]
//@ scratch R: float32[O]
//@ scratch XH: float16[B, H * V, ceil_div(C, 8) * 8]
//@ scratch XL: float16[B, H * V, ceil_div(C, 8) * 8]
//@ scratch R_2: float32[B]
//@ scratch S: float32[B, ceil_div(H * V, 32), 2]
//@ launch  split_weights<<<O, 256>>>(weight, WH, WL, R, C, O, ceil_div(C, 8) * 8)
//@ launch  split_inputs_measure<<<dim3(ceil_div(H * V, 32), B), 256>>>(X, S, C, H * V)
//@ launch  split_inputs_scales<<<B, 128>>>(S, R_2, ceil_div(H * V, 32))
//@ launch  split_inputs<<<dim3(ceil_div(H * V, 32), ceil_div(C, 64), B), 256>>>(X, R_2, XH, XL, C, H * V, ceil_div(C, 8) * 8)
//@ launch  warpgroup_convolution<<<min(max(1, 132 / (ceil_div(O, 64) * 4)) * (ceil_div(O, 64) * 4), ceil_div(O, 64) * ceil_div(ceil_div((V - 1) * 2 + 1, 2), 63) * ceil_div(ceil_div((H - 1) * 2 + 1, 2), 2) * ceil_div(B, 1) * 1 * 4), 384, 218112>>>(tensor_map(WH, axes(C, O, 9), strides(ceil_div(C, 8) * 8, O * (ceil_div(C, 8) * 8)), box(32, 64, 1), swizzle(64)), tensor_map(WL, axes(C, O, 9), strides(ceil_div(C, 8) * 8, O * (ceil_div(C, 8) * 8)), box(32, 64, 1), swizzle(64)), tensor_map(XH, axes(C, V, H, 1, B), strides((ceil_div(C, 8) * 8), V * (ceil_div(C, 8) * 8), H * V * (ceil_div(C, 8) * 8), 1 * H * V * (ceil_div(C, 8) * 8)), box(32, 64, 3, 1, 1), swizzle(64)), tensor_map(XL, axes(C, V, H, 1, B), strides((ceil_div(C, 8) * 8), V * (ceil_div(C, 8) * 8), H * V * (ceil_div(C, 8) * 8), 1 * H * V * (ceil_div(C, 8) * 8)), box(32, 64, 3, 1, 1), swizzle(64)), bias, Y, R_2, R, C, O, B, (V - 1) * 2 + 1, (H - 1) * 2 + 1, (O * ((H - 1) * 2 + 1)) * ((V - 1) * 2 + 1), ((H - 1) * 2 + 1) * ((V - 1) * 2 + 1))
//@ launch  transposed_convolution<<<dim3(min(ceil_div((B * (ceil_div((H - 1) * 2 + 1, 2))) * (ceil_div((V - 1) * 2 + 1, 2)), TILE_P), ceil_div(264, ceil_div(O, TILE_O) * 2 * 2)), ceil_div(O, TILE_O), 2 * 2), 256>>>(X, weight, bias, Y, V, (V - 1) * 2 + 1, H, (H - 1) * 2 + 1, C, O, B, (O * ((H - 1) * 2 + 1)) * ((V - 1) * 2 + 1), ((H - 1) * 2 + 1) * ((V - 1) * 2 + 1), H * V, R_2, R)
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

__global__ void __launch_bounds__(256) split_weights(const float* __restrict__ weight, __half* __restrict__ WH, __half* __restrict__ WL, float* __restrict__ R, int C, int O, int n6) {
  __shared__ float2 by_warp[8];
  constexpr int taps = 9;
  const int group = blockIdx.x / O, result = blockIdx.x % O, count = C * taps;
  const float* from = weight + (size_t(group) * C * O + result) * taps;
  Range line;
  const auto element = [&](int i) { return i < count ? from[size_t(i / taps) * O * taps + i % taps] : 0.0f; };
  for (int i = threadIdx.x * 4; i < count; i += 1024) line.take(make_float4(element(i), element(i + 1), element(i + 2), element(i + 3)));
  line.join_block(by_warp);
  const float scale = scale_of_line(line.largest);
  bool tiny = false;  // a tap alone may be all that a result meets
  for (int i = threadIdx.x; i < count; i += 256) {
    const int tap = i / C, c = i % C;
    const float x = from[size_t(c) * O * taps + tap] * scale;
    tiny = tiny || (x != 0 && fabsf(x) < 0x1p-25f);
    const size_t to = ((size_t(group) * taps + tap) * O + result) * n6 + c;
    const __half high = __float2half_rn(x);
    WH[to] = high;
    WL[to] = __float2half_rn((x - __half2float(high)) * 2048.0f);
  }
  tiny = __syncthreads_or(tiny);
  if (threadIdx.x == 0) R[blockIdx.x] = tiny ? __int_as_float(0x7fffffff) : undoing(scale, line);
}

// Of each place the largest channel of each group, which meet in results; of those the largest and the smallest that is not zero.
__global__ void __launch_bounds__(256) split_inputs_measure(const float* __restrict__ X, float* __restrict__ S, int C, int n3) {
  __shared__ float largests[8][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, place = blockIdx.x * 32 + lane, own = C / 1;
  const float infinity = __int_as_float(0x7f800000);
  float largest = 0, smallest = infinity;
  const float* from = X + size_t(blockIdx.y) * C * n3 + place;
  for (int group = 0; group < 1; ++group, from += size_t(own) * n3) {
    float most = 0;
    if (place < n3) {
#pragma unroll 8
      for (int c = warp; c < own; c += 8) {
        const float x = fabsf(from[size_t(c) * n3]);
        most = x < infinity ? fmaxf(most, x) : infinity;
      }
    }
    if (group > 0) __syncthreads();
    largests[warp][lane] = most;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; ++i) most = fmaxf(most, largests[i][lane]);
    largest = fmaxf(largest, most);
    if (most > 0) smallest = fminf(smallest, most);
  }
  if (warp > 0) return;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, step));
    smallest = fminf(smallest, __shfl_xor_sync(0xffffffff, smallest, step));
  }
  if (lane == 0) *reinterpret_cast<float2*>(S + 2 * (size_t(blockIdx.y) * gridDim.x + blockIdx.x)) = make_float2(largest, smallest);
}

// What undoes the scale of a sample. NaN where halves cannot hold it as float32 does: an infinite element or NaN, or places all of whose
// channels are so small that they lose bits.
__global__ void __launch_bounds__(128) split_inputs_scales(const float* __restrict__ S, float* __restrict__ R_2, int n2) {
  __shared__ float2 of_warps[4];
  float2 all = make_float2(0, __int_as_float(0x7f800000));
  const auto join = [&](float2 part) { all = make_float2(fmaxf(all.x, part.x), fminf(all.y, part.y)); };
  for (int i = threadIdx.x; i < n2; i += 128) join(*reinterpret_cast<const float2*>(S + 2 * (size_t(blockIdx.x) * n2 + i)));
#pragma unroll
  for (int step = 16; step > 0; step /= 2) join(make_float2(__shfl_xor_sync(0xffffffff, all.x, step), __shfl_xor_sync(0xffffffff, all.y, step)));
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = all;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int warp = 1; warp < 4; ++warp) join(of_warps[warp]);
  const bool odd = !(all.x < __int_as_float(0x7f800000)) || (all.x > 0 && (all.x < 1e-30f || all.y < 0x1p-22f * all.x));
  R_2[blockIdx.x] = odd ? __int_as_float(0x7fffffff) : 1 / scale_of_line(all.x);
}

__global__ void __launch_bounds__(256) split_inputs(const float* __restrict__ X, const float* __restrict__ R_2, __half* __restrict__ XH, __half* __restrict__ XL, int C, int n5, int n6) {
  __shared__ float tile[64][33];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float undo = R_2[blockIdx.z], scale = undo > 0 ? 1 / undo : 1;
  const float* from = X + size_t(blockIdx.z) * C * n5;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int c = blockIdx.y * 64 + i * 8 + warp, place = blockIdx.x * 32 + lane;
    tile[i * 8 + warp][lane] = c < C && place < n5 ? from[size_t(c) * n5 + place] * scale : 0;
  }
  __syncthreads();
  const int own = threadIdx.x % 8 * 8, place = threadIdx.x / 8;
  if (blockIdx.x * 32 + place >= n5 || blockIdx.y * 64 + own >= n6) return;
  const float4 a = make_float4(tile[own][place], tile[own + 1][place], tile[own + 2][place], tile[own + 3][place]);
  const float4 b = make_float4(tile[own + 4][place], tile[own + 5][place], tile[own + 6][place], tile[own + 7][place]);
  const uint2 high_a = high_halves(a), high_b = high_halves(b);
  const size_t to = (size_t(blockIdx.z) * n5 + blockIdx.x * 32 + place) * n6 + blockIdx.y * 64 + own;
  *reinterpret_cast<uint4*>(XH + to) = make_uint4(high_a.x, high_a.y, high_b.x, high_b.y);
  const uint2 low_a = low_halves(a, high_a), low_b = low_halves(b, high_b);
  *reinterpret_cast<uint4*>(XL + to) = make_uint4(low_a.x, low_a.y, low_b.x, low_b.y);
}

__global__ void __launch_bounds__(384, 1) warpgroup_convolution(const __grid_constant__ CUtensorMap weights_map, const __grid_constant__ CUtensorMap weights_low_map, const __grid_constant__ CUtensorMap inputs_map, const __grid_constant__ CUtensorMap inputs_low_map, const float* __restrict__ bias, float* __restrict__ Y, const float* __restrict__ R_2, const float* __restrict__ R, int C, int O, int B, int n11, int n12, int n13, int n14) {
  using namespace hopper;
  constexpr int ROWS = 64, COLUMNS = 128, HALVES = 2, SPAN = 64, PLACES = 208, COPIED = 192, LEFT = ROWS * SPAN, WINDOW = PLACES * SPAN;
  constexpr int WINDOWS = 3, SLOTS = 4;
  // Warpgroups take tiles in turns, so that one writes while the other multiplies. Where sums leave the tensor cores they share a tile: of 128
  // rows each has half, of 64 it has all, and half of the columns. Each warp says when it is done with a slot: its wait is for its own products.
  constexpr bool TURNS = HALVES == 1;
  constexpr int OWN = TURNS ? COLUMNS : COLUMNS * ROWS / 128;
  extern __shared__ char warpgroup_memory[];
  __shared__ __align__(8) u64 barriers[2 * SLOTS + 2 * WINDOWS];
  const u32 ring_start = aligned(shared_address(warpgroup_memory)), weights_start = ring_start + WINDOWS * HALVES * WINDOW;
  const u32 full = shared_address(barriers), empty = full + 8 * SLOTS, inputs_full = empty + 8 * SLOTS, inputs_empty = inputs_full + 8 * WINDOWS;
  char* const ring_memory = warpgroup_memory + (ring_start - shared_address(warpgroup_memory));
  if (threadIdx.x == 0) {
    for (int slot = 0; slot < SLOTS; ++slot) barrier_init(full + 8 * slot, 1), barrier_init(empty + 8 * slot, TURNS ? 4 : 8);
    for (int slot = 0; slot < WINDOWS; ++slot) barrier_init(inputs_full + 8 * slot, 1), barrier_init(inputs_empty + 8 * slot, TURNS ? 4 : 8);
    barrier_init_done();
  }
  // What no copy reaches is multiplied for places that are none.
  for (int i = threadIdx.x * 16; i < WINDOWS * HALVES * WINDOW; i += 384 * 16)
    if (i % WINDOW >= COPIED * SPAN) *reinterpret_cast<uint4*>(ring_memory + i) = make_uint4(0, 0, 0, 0);
  fence_stores();
  __syncthreads();
  Ring<SLOTS> ring;
  Ring<WINDOWS> windows;
  const int tiles = ((O + ROWS - 1) / ROWS) * 4 * ((((n11 + 1) / 2 + 62) / 63)) * ((((n12 + 1) / 2 + 1) / 2)) * ((((1 + 0) / 1))) * (((B + 0) / 1));
  // A block that meets the same taps in all of its tiles keeps their weights.
  const bool kept = gridDim.x % ((O + 63) / 64 * 4) == 0 && (C + 31) / 32 * 4 <= SLOTS;
  if (warpgroup() == 0) {
    give_registers<40>();
    if (threadIdx.x == 0)
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      const int down = (O + ROWS - 1) / ROWS, row_start = tile % down * ROWS;
      int rest = tile / down;
      const int group = 0;
      const int r_w = rest % 2;
      rest /= 2;
      const int r_h = rest % 2;
      rest /= 2;
      const int w_start = rest % ((((n11 + 1) / 2 + 62) / 63)) * 63;
      rest /= (((n11 + 1) / 2 + 62) / 63);
      const int h_start = rest % ((((n12 + 1) / 2 + 1) / 2)) * 2;
      rest /= (((n12 + 1) / 2 + 1) / 2);
      const int d_start = rest % ((((1 + 0) / 1)));
      rest /= (((1 + 0) / 1));
      const int b_start = rest % (((B + 0) / 1));
      rest /= ((B + 0) / 1);
      const int first_w = (r_w + 1) % 2, TW = (3 - first_w + 1) / 2, add_w = (r_w + 1) / 2;
      const int first_h = (r_h + 1) % 2, TH = (3 - first_h + 1) / 2, add_h = (r_h + 1) / 2;
      const int planes = 1, steps = (C + 31) / 32 * planes;
        for (int step = 0; step < steps; ++step) {
        int part = step;
        const int tap_d = part % planes, c = part / planes * 32;
        const int from_h = h_start + add_h - (TH - 1) * 1;
        const int from_w = w_start + add_w - (TW - 1) * 1;
          if (TH * TW == 0) continue;
          wait(inputs_empty + 8 * windows.slot, windows.parity ^ 1);
          const u32 right = ring_start + windows.slot * (HALVES * WINDOW), bar = inputs_full + 8 * windows.slot;
          arrive_expect(bar, HALVES * COPIED * SPAN);
          const int from_d = d_start + 0 - tap_d * 1;
          load_5d(right, inputs_map, bar, group * C + c, from_w, from_h, from_d, b_start);
          load_5d(right + WINDOW, inputs_low_map, bar, group * C + c, from_w, from_h, from_d, b_start);
          windows.next();
          for (int tap = 0; tap < TH * TW && !(kept && tile != blockIdx.x); ++tap, ring.next()) {
            wait(empty + 8 * ring.slot, ring.parity ^ 1);
            const u32 left = weights_start + ring.slot * (HALVES * LEFT), bar = full + 8 * ring.slot;
            arrive_expect(bar, HALVES * LEFT);
            const int weights = group * 9 + ((tap_d) * 3 + first_h + (TH - 1 - tap / TW) * 2) * 3 + first_w + (TW - 1 - tap % TW) * 2;
            load_3d(left, weights_map, bar, c, row_start, weights);
            load_3d(left + LEFT, weights_low_map, bar, c, row_start, weights);
          }
        }
      }
  } else {
    take_registers<232>();
    const int half = warpgroup() - 1, own_row = !TURNS && ROWS == 128 ? 64 * half : 0, own_column = !TURNS && ROWS == 64 ? OWN * half : 0, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    // Results go through shared memory, 16 rows by 32 columns of a warp at a time, so that neighbours are written together.
    float* const staged = reinterpret_cast<float*>(ring_memory + 196608) + (half * 4 + warp) * (16 * 40);
    // The first turn is the first warpgroup's.
    if (TURNS && half == 1) named_arrive(1, 256);
    for (int tile = blockIdx.x, turn = 0; tile < tiles; tile += gridDim.x, turn ^= 1) {
      const int down = (O + ROWS - 1) / ROWS, row_start = tile % down * ROWS;
      int rest = tile / down;
      const int group = 0;
      const int r_w = rest % 2;
      rest /= 2;
      const int r_h = rest % 2;
      rest /= 2;
      const int w_start = rest % ((((n11 + 1) / 2 + 62) / 63)) * 63;
      rest /= (((n11 + 1) / 2 + 62) / 63);
      const int h_start = rest % ((((n12 + 1) / 2 + 1) / 2)) * 2;
      rest /= (((n12 + 1) / 2 + 1) / 2);
      const int d_start = rest % ((((1 + 0) / 1)));
      rest /= (((1 + 0) / 1));
      const int b_start = rest % (((B + 0) / 1));
      rest /= ((B + 0) / 1);
      const int first_w = (r_w + 1) % 2, TW = (3 - first_w + 1) / 2, add_w = (r_w + 1) / 2;
      const int first_h = (r_h + 1) % 2, TH = (3 - first_h + 1) / 2, add_h = (r_h + 1) / 2;
      const int planes = 1, steps = (C + 31) / 32 * planes;
      if (TURNS && turn != half) {
        for (int step = 0; step < steps; ++step) {
        int part = step;
        const int tap_d = part % planes, c = part / planes * 32;
        const int from_h = h_start + add_h - (TH - 1) * 1;
        const int from_w = w_start + add_w - (TW - 1) * 1;
          if (TH * TW > 0) windows.next();
          for (int tap = 0; !kept && tap < TH * TW; ++tap) ring.next();
        }
        continue;
      }
      if (kept) ring = {};
      // A barrier tells a phase from the next one only: so a warpgroup begins when the other one has met all that comes before.
      if (TURNS) named_wait(1 + half, 256);
      float sum[OWN / 2] = {}, corrections[OWN / 2] = {};
      u32 before = 0, before_window = 0;
      for (int step = 0; step < steps; ++step) {
        int part = step;
        const int tap_d = part % planes, c = part / planes * 32;
        const int from_h = h_start + add_h - (TH - 1) * 1;
        const int from_w = w_start + add_w - (TW - 1) * 1;
        if (TH * TW == 0) continue;
        wait(inputs_full + 8 * windows.slot, windows.parity);
        const u32 inputs = ring_start + windows.slot * (HALVES * WINDOW) + own_column * SPAN, done = inputs_empty + 8 * windows.slot;
        for (int tap = 0; tap < TH * TW; ++tap, ring.next()) {
          wait(full + 8 * ring.slot, ring.parity);
          const u32 left_high = weights_start + ring.slot * (HALVES * LEFT) + own_row * SPAN, right_high = inputs + (tap / TW * (1 * 64) + tap % TW * 1) * SPAN;
          product_fence();
          if (HALVES == 1) {
#pragma unroll
            for (int part = 0; part < SPAN / 32; ++part) multiply_f16<0, 0>(sum, descriptor(left_high + 32 * part, SPAN), descriptor(right_high + 32 * part, SPAN), 1);
            product_commit();
            product_wait<1>();
            if (!kept && before != 0 && lane == 0) arrive(before);
            if (before_window != 0 && lane == 0) arrive(before_window);
            before = empty + 8 * ring.slot, before_window = tap + 1 == TH * TW ? done : 0;
          } else {
            // Sums of the large product leave the tensor cores after each tap: those cut what they add. The corrections, 2^11 times too large,
            // are so small that they may stay.
            float large[OWN / 2];
#pragma unroll
            for (int which = 0; which < 3; ++which) {
              const u32 left = which == 1 ? left_high + LEFT : left_high, right = which == 0 ? right_high + WINDOW : right_high;
#pragma unroll
              for (int part = 0; part < SPAN / 32; ++part)
                multiply_f16<0, 0>(which < 2 ? corrections : large, descriptor(left + 32 * part, SPAN), descriptor(right + 32 * part, SPAN), which < 2 || part > 0);
            }
            product_commit();
            product_wait<0>();
            hold(large);
            if (!kept && lane == 0) arrive(empty + 8 * ring.slot);
            if (tap + 1 == TH * TW && lane == 0) arrive(done);
#pragma unroll
            for (int i = 0; i < OWN / 2; ++i) sum[i] += large[i];
          }
        }
        windows.next();
      }
      if (TURNS && tile + gridDim.x < tiles) named_arrive(2 - half, 256);
      if (HALVES == 1) {
        product_wait<0>();
        if (!kept && before != 0 && lane == 0) arrive(before);
        if (before_window != 0 && lane == 0) arrive(before_window);
      } else {
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
        const int column = own_column + 32 * j + lane;
        const int part_w = column % 64, part_h = column / 64, part_b = 0, at_b = b_start + part_b;
        const int at_h = (h_start + part_h) * 2 + r_h, at_w = (w_start + part_w) * 2 + r_w, at_d = d_start;
        const bool there = part_w < 63 && part_h < 2 && part_b < 1 && at_b < B && at_h < n12 && at_w < n11 && at_d < 1;
        const float back = there ? R_2[at_b] : 1;
#pragma unroll 4
        for (int i = 0; i < 16; ++i) {
          const int row = row_start + own_row + 16 * warp + i;
          if (row >= O || !there) continue;
          const float held = staged[i * 40 + lane];
          const int at_o = group * O + row;
          const float produced = held * fminf(R[at_o], back) * fmaxf(R[at_o], back);
          const float v1 = float(bias[at_o]);
          const float v2 = produced + v1;
          const float v3 = v2 < 0 ? 0 : v2;
          Y[size_t(at_b) * n13 + size_t(at_o) * n14 + size_t(at_h) * n11 + at_w] = v3;
        }
        __syncwarp();
      }
    }
  }
}

__global__ void __launch_bounds__(256) transposed_convolution(const float* __restrict__ X, const float* __restrict__ weight_, const float* __restrict__ bias, float* __restrict__ Y, int V, int n5, int H, int n7, int C, int O, int B, int n11, int n12, int n13, const float* __restrict__ R_2, const float* __restrict__ R) {
  // Output channels by positions, summed over channels and taps: a product whose right factor is gathered.
  constexpr int TO = TILE_O / 16, TP = TILE_P / 16, NOWHERE = -(1 << 28);
  struct Tap { int from, weight, d, h, w; };
  __shared__ __align__(16) float inputs[STEP][TILE_P + 4], weights[STEP][TILE_O + 4];
  __shared__ Tap taps[STEP];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  constexpr int group = 0;
  const int r_w = blockIdx.z % 2, QW = (n5 - r_w + 1) / 2;
  const int first_w = (r_w + 1) % 2, TW = (3 - first_w + 1) / 2, add_w = (r_w + 1) / 2;
  const int r_h = blockIdx.z / 2 % 2, QH = (n7 - r_h + 1) / 2;
  const int first_h = (r_h + 1) % 2, TH = (3 - first_h + 1) / 2, add_h = (r_h + 1) / 2;
  constexpr int QD = 1;
  constexpr int TD = 1;
  constexpr int first_d = 0, add_d = 0;
  // NaN undoes no scale: of such inputs or weights there are no halves.
  bool held = true;
  for (int i = threadIdx.x; i < B; i += 256) held = held && R_2[i] > 0;
  for (int i = threadIdx.x; i < O; i += 256) held = held && R[i] > 0;
  if (!__syncthreads_or(!held)) return;
  const int depth = C * TD * TH * TW, positions = B * QD * QH * QW;
  for (int block = blockIdx.x; block * TILE_P < positions; block += gridDim.x) {
  const int o_start = blockIdx.y * TILE_O;
  const auto tap = [&](int k) {
    if (k >= depth) return Tap{0, -1, 0, 0, NOWHERE};
    const int channel = k / (TD * TH * TW), d = k / (TH * TW) % TD, h = k / TW % TH, w = k % TW;
    return Tap{((channel * 1 + d * -1) * H + h * -1) * V + w * -1,
               channel * O * 9 + ((first_d + d * 1) * 3 + first_h + h * 2) * 3 + first_w + w * 2,
               d * -1, h * -1, w * -1};
  };
  // The position that this thread gathers for; beyond the last one its results are dropped.
  const int own = threadIdx.x % TILE_P, position = min(block * TILE_P + own, positions - 1);
  const int d0 = position / (QH * QW) % QD * 1 + add_d, h0 = position / QW % QH * 1 + add_h;
  const int w0 = position % QW * 1 + add_w;
  const float* x = X + (size_t(position / (QD * QH * QW)) * C + group * C) * n13;
  const int base = (d0 * H + h0) * V + w0;
  const float* kernel = weight_ + size_t(group) * C * O * 9;
  float input_held[TILE_P * STEP / 256], weight_held[(TILE_O * STEP + 255) / 256];
  const auto fetch = [&]() {
#pragma unroll
    for (int i = 0; i < TILE_P * STEP / 256; ++i) {
      const Tap at = taps[i * (256 / TILE_P) + threadIdx.x / TILE_P];
      const int d = d0 + at.d, h = h0 + at.h, w = w0 + at.w;
      const bool there = unsigned(h) < unsigned(H) && unsigned(w) < unsigned(V);
      input_held[i] = there ? x[base + at.from] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < (TILE_O * STEP + 255) / 256; ++i) {
      const int o = o_start + (i * 256 + int(threadIdx.x)) / STEP, from = taps[threadIdx.x % STEP].weight;
      weight_held[i] = o < O && from >= 0 ? kernel[o * 9 + from] : 0.0f;
    }
  };
  float sum[TO][TP] = {};
  if (threadIdx.x < STEP) taps[threadIdx.x] = tap(threadIdx.x);
  __syncthreads();
  fetch();
  __syncthreads();
  for (int start = 0; start < depth; start += STEP) {
#pragma unroll
    for (int i = 0; i < TILE_P * STEP / 256; ++i) inputs[i * (256 / TILE_P) + threadIdx.x / TILE_P][own] = input_held[i];
#pragma unroll
    for (int i = 0; i < (TILE_O * STEP + 255) / 256; ++i)
      if (i * 256 + threadIdx.x < TILE_O * STEP) weights[threadIdx.x % STEP][(i * 256 + threadIdx.x) / STEP] = weight_held[i];
    if (threadIdx.x < STEP) taps[threadIdx.x] = tap(start + STEP + threadIdx.x);
    __syncthreads();
    if (start + STEP < depth) fetch();
#pragma unroll
    for (int k = 0; k < STEP; ++k) {
      float a[TO], b[TP];
#pragma unroll
      for (int i = 0; i < TO; ++i) a[i] = weights[k][ty * TO + i];
#pragma unroll
      for (int j = 0; j < TP; j += 4)
        *reinterpret_cast<float4*>(&b[j]) = *reinterpret_cast<const float4*>(&inputs[k][j * 16 + tx * 4]);
#pragma unroll
      for (int i = 0; i < TO; ++i)
#pragma unroll
        for (int j = 0; j < TP; ++j) sum[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < TP; ++j) {
    const int at = block * TILE_P + j / 4 * 64 + tx * 4 + j % 4;
    if (at >= positions) break;
    const int at_b = at / (QD * QH * QW), at_d = at / (QH * QW) % QD, at_h = at / QW % QH * 2 + r_h, at_w = at % QW * 2 + r_w;
#pragma unroll
    for (int i = 0; i < TO; ++i) {
      if (o_start + ty * TO + i >= O) break;
      const int at_o = group * O + o_start + ty * TO + i;
      const float produced = sum[i][j];
      const float v1 = float(bias[at_o]);
      const float v2 = produced + v1;
      const float v3 = v2 < 0 ? 0 : v2;
      Y[size_t(at_b) * n11 + size_t(at_o) * n12 + size_t(at_h) * n5 + at_w] = v3;
    }
  }
  }
}
