//@ of      straight_convolution.before.cu sha256:7534b4cf86815598db3fc738ce5ce50e6f2f3a57587727d93985c6b83a37d81c
//@ scratch W: float32[1, ceil_div(O, 64), ceil_div(C, 32), 32768]
//@ launch  straight_weights<<<ceil_div(8 * ceil_div(O, 64) * ceil_div(C, 32) * 4096, 1024), 256>>>(weight, W, C, O)
//@ launch  straight_convolution<<<min(max(1, 132 / (ceil_div(O, 64) * 4)), ceil_div(B * ceil_div(1, 1) * ceil_div(ceil_div((H - 1) * 2 + 1, 2), 2) * ceil_div(ceil_div((V - 1) * 2 + 1, 2), 64), 2)) * (ceil_div(O, 64) * 4), 384, 198656>>>(X, W, bias, Y, C, O, B, H, V, (V - 1) * 2 + 1, (H - 1) * 2 + 1, (O * ((H - 1) * 2 + 1)) * ((V - 1) * 2 + 1), ((H - 1) * 2 + 1) * ((V - 1) * 2 + 1))
// playbook: as written/straight warpgroups
#include <hopper.cuh>

__device__ __forceinline__ float rounded_to_tf32(float x) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return __uint_as_float(bits);
}

__device__ __forceinline__ unsigned tf32_bits(float x) { return __float_as_uint(x) + (x == x ? 0x1000u : 0u); }

// The tap at place `at` of a window that begins with tap `first` of `taps`, or -1; inputs of a transposed convolution meet the last tap first.
__device__ __forceinline__ int straight_weights_tap(int first, int at, int taps, int step) {
  const int met = (taps - first + step - 1) / step;
  return at >= met ? -1 : first + (true ? met - 1 - at : at) * step;
}

__global__ void __launch_bounds__(256) straight_weights(const float* __restrict__ weight, float* __restrict__ W, int C, int O) {
  int rest = blockIdx.x * 256 + threadIdx.x;
  const auto part = [&](int count) {
    const int result = rest % count;
    rest /= count;
    return result;
  };
  const int column = part(64), fours = part(2), at_h = part(2), eights = part(4), at_w = part(2), at_d = part(1);
  const int step = part((C + 32 - 1) / 32), first_w = part(2), first_h = part(2), first_d = part(1);
  const int down = part((O + 64 - 1) / 64), group = rest;
  if (group >= 1) return;
  const int d = straight_weights_tap(first_d, at_d, 1, 1), h = straight_weights_tap(first_h, at_h, 3, 2), w = straight_weights_tap(first_w, at_w, 3, 2);
  const int c = step * 32 + eights * 8 + fours * 4, o = down * 64 + column;
  const bool there = d >= 0 && h >= 0 && w >= 0 && o < O;
  float four[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) four[i] = there && c + i < C ? rounded_to_tf32(weight[((group * C + c + i) * O + o) * 9 + (d * 3 + h) * 3 + w]) : 0;
  *reinterpret_cast<float4*>(W + size_t(blockIdx.x * 256 + threadIdx.x) * 4) = make_float4(four[0], four[1], four[2], four[3]);
}

__global__ void __launch_bounds__(384, 1) straight_convolution(const float* __restrict__ X, const float* __restrict__ W, const float* __restrict__ bias, float* __restrict__ Y, int C, int O, int B, int H, int V, int n9, int n10, int n11, int n12) {
  using namespace hopper;
  // Each of two warpgroups has tiles and windows of its own; they share the weights, a slot for the taps of a column. Of a warp's places eight
  // neighbours and eight that lie PAIR_H lines or PAIR_W columns further are 16 rows of a product, of which it has BLOCK_H by BLOCK_W.
  constexpr int COLUMNS = 64, CHANNELS = 32, PARTS = CHANNELS / 8, BLOCK_H = 2, BLOCK_W = 1, BLOCKS = BLOCK_H * BLOCK_W, PAIR_H = 0, PAIR_W = 8;
  constexpr int MOST_H = 2, MOST_W = 2, STEP_H = 1, STEP_W = 1, STRIDE_H = 1, STRIDE_W = 1, READ = (BLOCK_H - 1) * STRIDE_H + (MOST_H - 1) * STEP_H + 1;
  constexpr int PITCH = 68, LINES = 3, PLANE = 216, WINDOW = CHANNELS * PLANE, WINDOWS = 3, TAP = COLUMNS * 32, SLOT = PARTS * MOST_H * TAP, SLOTS = 2;
  extern __shared__ __align__(128) char convolution_memory[];
  __shared__ __align__(8) u64 barriers[2 * SLOTS + 4 * WINDOWS];
  float* const window_memory = reinterpret_cast<float*>(convolution_memory + SLOTS * SLOT);
  const u32 weights_start = shared_address(convolution_memory), full = shared_address(barriers), empty = full + 8 * SLOTS, windows_full = empty + 8 * SLOTS;
  const u32 windows_empty = windows_full + 16 * WINDOWS;
  const int kinds = (O + 63) / 64 * 4, tiles = ((B * (((n9 + 1) / 2 + 63) / 64) * (((n10 + 1) / 2 + 1) / 2) * ((1 + 0) / 1)) + 1) / 2 * kinds, channel_steps = (C + CHANNELS - 1) / CHANNELS, lane = threadIdx.x % 32;
  // A block that has tiles of one kind keeps their weights.
  const bool kept = gridDim.x % kinds == 0 && channel_steps * (1 * MOST_W) <= SLOTS;
  const int copiers = kept ? 64 : 32;  // threads that copy the windows of a warpgroup
  if (threadIdx.x == 0) {
    for (int slot = 0; slot < SLOTS; ++slot) barrier_init(full + 8 * slot, 1), barrier_init(empty + 8 * slot, 8);
    for (int slot = 0; slot < 2 * WINDOWS; ++slot) barrier_init(windows_full + 8 * slot, copiers), barrier_init(windows_empty + 8 * slot, 4);
    barrier_init_done();
  }
  __syncthreads();
  const auto load_weights = [&] {
    Ring<SLOTS> ring;
    for (int tile = blockIdx.x; tile < (kept ? min(tiles, int(blockIdx.x) + 1) : tiles); tile += gridDim.x) {
      const int team = 0;
        const int downs = (O + COLUMNS - 1) / COLUMNS, down = tile % downs, row_start = down * COLUMNS;
        int rest = tile / downs;
        const int group = 0;
        const int r_w = rest % (2);
        rest /= 2;
        const int r_h = rest % (2);
        rest /= 2;
        rest = rest * 2 + team;
        const int w_start = rest % ((((n9 + 1) / 2 + 63) / 64)) * 64;
        rest /= (((n9 + 1) / 2 + 63) / 64);
        const int h_start = rest % ((((n10 + 1) / 2 + 1) / 2)) * 2;
        rest /= (((n10 + 1) / 2 + 1) / 2);
        const int d_start = rest % (((1 + 0) / 1));
        rest /= ((1 + 0) / 1);
        const int b_start = rest;
        const int first_w = (r_w + 1) % 2, TW = (3 - first_w + 1) / 2, add_w = (r_w + 1) / 2;
        const int from_w = w_start + add_w - (TW - 1) * 1;
        const int first_h = (r_h + 1) % 2, TH = (3 - first_h + 1) / 2, add_h = (r_h + 1) / 2;
        const int from_h = h_start + add_h - (TH - 1) * 1;
        constexpr int TD = 1;
        const int from_d = d_start + 0;
        const int steps = TH * TW == 0 ? 0 : channel_steps * TD;
        const int taps_class = ((0) * 2 + first_h) * 2 + first_w;
      const float* const weights = W + size_t(((group * downs + down) * 4 + taps_class) * channel_steps) * (1 * MOST_W * SLOT / 4);
      for (int step = 0; step < steps; ++step)
        for (int tap = 0; tap < TW; ++tap, ring.next()) {
          wait(empty + 8 * ring.slot, ring.parity ^ 1);
          arrive_expect(full + 8 * ring.slot, SLOT);
          bulk_load(weights_start + ring.slot * SLOT, weights + ((step / TD * 1 + step % TD) * MOST_W + tap) * (SLOT / 4), SLOT, full + 8 * ring.slot);
        }
    }
  };
  if (warpgroup() == 0) {
    give_registers<56>();
    const int team = threadIdx.x / 64, copier = threadIdx.x % 64;
    if (!kept && threadIdx.x == 32) load_weights();
    Ring<WINDOWS> windows;
    for (int tile = copier < copiers ? int(blockIdx.x) : tiles; tile < tiles; tile += gridDim.x) {
        const int downs = (O + COLUMNS - 1) / COLUMNS, down = tile % downs, row_start = down * COLUMNS;
        int rest = tile / downs;
        const int group = 0;
        const int r_w = rest % (2);
        rest /= 2;
        const int r_h = rest % (2);
        rest /= 2;
        rest = rest * 2 + team;
        const int w_start = rest % ((((n9 + 1) / 2 + 63) / 64)) * 64;
        rest /= (((n9 + 1) / 2 + 63) / 64);
        const int h_start = rest % ((((n10 + 1) / 2 + 1) / 2)) * 2;
        rest /= (((n10 + 1) / 2 + 1) / 2);
        const int d_start = rest % (((1 + 0) / 1));
        rest /= ((1 + 0) / 1);
        const int b_start = rest;
        const int first_w = (r_w + 1) % 2, TW = (3 - first_w + 1) / 2, add_w = (r_w + 1) / 2;
        const int from_w = w_start + add_w - (TW - 1) * 1;
        const int first_h = (r_h + 1) % 2, TH = (3 - first_h + 1) / 2, add_h = (r_h + 1) / 2;
        const int from_h = h_start + add_h - (TH - 1) * 1;
        constexpr int TD = 1;
        const int from_d = d_start + 0;
        const int steps = TH * TW == 0 ? 0 : channel_steps * TD;
        const int taps_class = ((0) * 2 + first_h) * 2 + first_w;
      for (int step = 0; step < steps; ++step, windows.next()) {
        const int tap_d = step % TD, c = step / TD * CHANNELS, d = from_d + tap_d * 1;
        wait(windows_empty + 8 * (team * WINDOWS + windows.slot), windows.parity ^ 1);
        const u32 window = shared_address(window_memory + (team * WINDOWS + windows.slot) * WINDOW), bar = windows_full + 8 * (team * WINDOWS + windows.slot);
        const float* const plane = X + ((size_t(b_start) * C + group * C + c) * 1 + d) * (H * V);
        const int depth = b_start < B && unsigned(d) < unsigned(1) ? C - c : 0;
#pragma unroll 4
        for (int at = copier; at < CHANNELS * LINES * (PITCH / 4); at += copiers) {
          const int channel = at / (LINES * (PITCH / 4)), place = at % (LINES * (PITCH / 4)), h = from_h + place / (PITCH / 4), w = (from_w & -4) + place % (PITCH / 4) * 4;
          const bool there = channel < depth && unsigned(h) < unsigned(H);
          const float* const from = plane + size_t(channel) * (1 * (H * V)) + h * V + w;
          const u32 to = window + channel * (PLANE * 4) + place * 16;
          if (V % 4 == 0) {
            const bool inside = there && unsigned(w) < unsigned(V);
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(inside ? from : X), "r"(inside ? 16 : 0));
          } else {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
              const bool inside = there && unsigned(w + i) < unsigned(V);
              asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to + 4 * i), "l"(inside ? from + i : X), "r"(inside ? 4 : 0));
            }
          }
        }
        asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(bar) : "memory");
      }
    }
  } else {
    take_registers<224>();
    const int team = warpgroup() - 1, warp = threadIdx.x / 32 % 4;
    const int strip_h = warp / 4 * 2, strip_w = warp % 4 * 16;
    if (kept && threadIdx.x == 128) load_weights();
    __syncwarp();
    Ring<SLOTS> ring;
    Ring<WINDOWS> windows;
    for (int number = blockIdx.x; number < tiles; number += gridDim.x) {
      // Products overlap only where ptxas sees that all lanes meet the same conditions, which a shuffle tells it.
      const int tile = __shfl_sync(0xffffffff, number, 0);
        const int downs = (O + COLUMNS - 1) / COLUMNS, down = tile % downs, row_start = down * COLUMNS;
        int rest = tile / downs;
        const int group = 0;
        const int r_w = rest % (2);
        rest /= 2;
        const int r_h = rest % (2);
        rest /= 2;
        rest = rest * 2 + team;
        const int w_start = rest % ((((n9 + 1) / 2 + 63) / 64)) * 64;
        rest /= (((n9 + 1) / 2 + 63) / 64);
        const int h_start = rest % ((((n10 + 1) / 2 + 1) / 2)) * 2;
        rest /= (((n10 + 1) / 2 + 1) / 2);
        const int d_start = rest % (((1 + 0) / 1));
        rest /= ((1 + 0) / 1);
        const int b_start = rest;
        const int first_w = (r_w + 1) % 2, TW = (3 - first_w + 1) / 2, add_w = (r_w + 1) / 2;
        const int from_w = w_start + add_w - (TW - 1) * 1;
        const int first_h = (r_h + 1) % 2, TH = (3 - first_h + 1) / 2, add_h = (r_h + 1) / 2;
        const int from_h = h_start + add_h - (TH - 1) * 1;
        constexpr int TD = 1;
        const int from_d = d_start + 0;
        const int steps = TH * TW == 0 ? 0 : channel_steps * TD;
        const int taps_class = ((0) * 2 + first_h) * 2 + first_w;
      if (kept) ring = {};
      const int own = lane % 4 * PLANE + strip_h * (STRIDE_H * PITCH) + (strip_w + lane / 4) * STRIDE_W + (from_w & 3);
      float sum[BLOCKS][COLUMNS / 2] = {};
      float read[PARTS][READ][BLOCK_W][4];
      const auto read_at = [&](u32 slot, int tap) {
        const float* const from = window_memory + (team * WINDOWS + slot) * WINDOW + own + tap * STEP_W;
#pragma unroll
        for (int i = 0; i < PARTS * READ * BLOCK_W * 4; ++i) {
          const int part = i / 4 / BLOCK_W / READ, line = i / 4 / BLOCK_W % READ, block = i / 4 % BLOCK_W, c = part * 8 + i / 2 % 2 * 4, pair = i % 2;
          read[part][line][block][i % 4] = from[c * PLANE + (line + pair * PAIR_H * STRIDE_H) * PITCH + (block * 8 + pair * PAIR_W) * STRIDE_W];
        }
      };
      if (TH == 2) {
        if (steps > 0) {
          wait(windows_full + 8 * (team * WINDOWS + windows.slot), windows.parity);
          read_at(windows.slot, 0);
        }
        for (int step = 0; step < steps; ++step) {
          const u32 slot = windows.slot;
          windows.next();
          for (int tap = 0; tap < TW; ++tap, ring.next()) {
            u32 held[PARTS][READ][BLOCK_W][4];
#pragma unroll
            for (int i = 0; i < PARTS * READ * BLOCK_W * 4; ++i)
              held[i / 4 / BLOCK_W / READ][i / 4 / BLOCK_W % READ][i / 4 % BLOCK_W][i % 4] = tf32_bits(read[i / 4 / BLOCK_W / READ][i / 4 / BLOCK_W % READ][i / 4 % BLOCK_W][i % 4]);
            wait(full + 8 * ring.slot, ring.parity);
            const u32 weights = weights_start + ring.slot * SLOT;
            product_fence();
#pragma unroll
            for (int i = 0; i < PARTS * 2 * BLOCKS; ++i) {
              const int part = i / BLOCKS / 2, tap_h = i / BLOCKS % 2, block = i % BLOCKS;
              multiply_tf32(sum[block], held[part][block / BLOCK_W * STRIDE_H + tap_h * STEP_H][block % BLOCK_W], plain_descriptor(weights + (part * MOST_H + tap_h) * TAP, TAP / 2, 128), 1);
            }
            product_commit();
            // What comes next is read while this is multiplied.
            if (tap + 1 < TW) {
              read_at(slot, tap + 1);
            } else if (step + 1 < steps) {
              wait(windows_full + 8 * (team * WINDOWS + windows.slot), windows.parity);
              read_at(windows.slot, 0);
            }
            product_wait<0>();
#pragma unroll
            for (int block = 0; block < BLOCKS; ++block) hold(sum[block]);
            if (!kept && lane == 0) arrive(empty + 8 * ring.slot);
          }
          __syncwarp();
          if (lane == 0) arrive(windows_empty + 8 * (team * WINDOWS + slot));
        }
      } else {
        if (steps > 0) {
          wait(windows_full + 8 * (team * WINDOWS + windows.slot), windows.parity);
          read_at(windows.slot, 0);
        }
        for (int step = 0; step < steps; ++step) {
          const u32 slot = windows.slot;
          windows.next();
          for (int tap = 0; tap < TW; ++tap, ring.next()) {
            u32 held[PARTS][READ][BLOCK_W][4];
#pragma unroll
            for (int i = 0; i < PARTS * READ * BLOCK_W * 4; ++i)
              held[i / 4 / BLOCK_W / READ][i / 4 / BLOCK_W % READ][i / 4 % BLOCK_W][i % 4] = tf32_bits(read[i / 4 / BLOCK_W / READ][i / 4 / BLOCK_W % READ][i / 4 % BLOCK_W][i % 4]);
            wait(full + 8 * ring.slot, ring.parity);
            const u32 weights = weights_start + ring.slot * SLOT;
            product_fence();
#pragma unroll
            for (int i = 0; i < PARTS * 1 * BLOCKS; ++i) {
              const int part = i / BLOCKS / 1, tap_h = i / BLOCKS % 1, block = i % BLOCKS;
              multiply_tf32(sum[block], held[part][block / BLOCK_W * STRIDE_H + tap_h * STEP_H][block % BLOCK_W], plain_descriptor(weights + (part * MOST_H + tap_h) * TAP, TAP / 2, 128), 1);
            }
            product_commit();
            // What comes next is read while this is multiplied.
            if (tap + 1 < TW) {
              read_at(slot, tap + 1);
            } else if (step + 1 < steps) {
              wait(windows_full + 8 * (team * WINDOWS + windows.slot), windows.parity);
              read_at(windows.slot, 0);
            }
            product_wait<0>();
#pragma unroll
            for (int block = 0; block < BLOCKS; ++block) hold(sum[block]);
            if (!kept && lane == 0) arrive(empty + 8 * ring.slot);
          }
          __syncwarp();
          if (lane == 0) arrive(windows_empty + 8 * (team * WINDOWS + slot));
        }
      }
#pragma unroll
      for (int i = 0; i < COLUMNS / 4; ++i) {
        const int column = row_start + i / 2 * 8 + lane % 4 * 2 + i % 2, at_o = group * O + column;
#pragma unroll
        for (int half = 0; half < 2 * BLOCKS; ++half) {
          const int block = half / 2, part_h = strip_h + block / BLOCK_W + half % 2 * PAIR_H, part_w = strip_w + block % BLOCK_W * 8 + half % 2 * PAIR_W + lane / 4;
          const int at_b = b_start, at_d = d_start, at_h = (h_start + part_h) * 2 + r_h, at_w = (w_start + part_w) * 2 + r_w;
          const bool there = at_b < B && at_d < 1 && at_h < n10 && at_w < n9;
          if (there && column < O) {
            const float produced = sum[block][i / 2 * 4 + half % 2 * 2 + i % 2];
            const float v1 = float(bias[at_o]);
            const float v2 = produced + v1;
            const float v3 = v2 < 0 ? 0 : v2;
            Y[size_t(at_b) * n11 + size_t(at_o) * n12 + size_t(at_h) * n9 + at_w] = v3;
          }
        }
      }
    }
  }
}
