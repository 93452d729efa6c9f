// SPDX-License-Identifier: Apache-2.0
//$ Attention of 16-bit elements by warpgroups, for compute capability 9.0: one warp copies keys and values into a ring of slots by tensor
//$ maps; two warpgroups with 64 queries each multiply them and keep scores, weights and sums in registers.
//$ needs hopper.cuh

__global__ void __launch_bounds__(384, 1) $name$($parameters$) {
  using namespace hopper;
  // Tiles of 128 queries or keys stand as one or two pieces of 64 elements, 128 bytes in a line.
  constexpr int HEAD = $head$, PARTS = $parts$, KEYS = 128, PIECE = 128 * 128, TILE = HEAD / 64 * PIECE, SLOTS = 5;
  constexpr bool CAUSAL = $causal$, IN_TURNS = $turns$;
  extern __shared__ char warpgroup_memory[];
  __shared__ __align__(8) u64 barriers[2 * SLOTS + 1];
  const u32 query_tile = aligned(shared_address(warpgroup_memory)), ring_start = query_tile + TILE;
  const u32 full = shared_address(barriers), empty = full + 8 * SLOTS, ready = full + 16 * SLOTS;
  if (threadIdx.x == 0) {
    for (int slot = 0; slot < SLOTS; ++slot) barrier_init(full + 8 * slot, 1), barrier_init(empty + 8 * slot, 2);
    barrier_init(ready, 1);
    barrier_init_done();
  }
  __syncthreads();
  Ring<SLOTS> ring;
  const int start = ($first$) * 128, batch = blockIdx.y, tiles = ($last$ + KEYS - 1) / KEYS;
  if (warpgroup() == 0) {
    give_registers<40>();
    if (threadIdx.x == 0) {
      arrive_expect(ready, TILE);
      for (int i = 0; i < HEAD / 64; ++i) load_3d(query_tile + i * PIECE, $queries$, ready, i * 64, start, batch);
      const auto load = [&](const CUtensorMap& map, int tile) {
        wait(empty + 8 * ring.slot, ring.parity ^ 1);
        const u32 bar = full + 8 * ring.slot;
        arrive_expect(bar, TILE);
        for (int i = 0; i < HEAD / 64; ++i) load_3d(ring_start + ring.slot * TILE + i * PIECE, map, bar, i * 64, tile * KEYS, batch);
        ring.next();
      };
      // In the order in which they are multiplied: scores of a tile come before the values of the last one.
      load($keys$, 0);
      for (int tile = 1; tile < tiles; ++tile) {
        load($keys$, tile);
        load($values$, tile - 1);
      }
      load($values$, tiles - 1);
    }
  } else {
    take_registers<232>();
    const int half = warpgroup() - 1, lane = threadIdx.x % 32, row = start + 64 * half + threadIdx.x % 128 / 32 * 16 + lane / 4;
    const bool leader = threadIdx.x % 128 == 0;
    const u32 own_queries = query_tile + half * 64 * 128;
    const float scale = 1.44269504f $scale$, minus_infinity = __int_as_float(0xff800000);
    const auto power = [](float x) {
      float result;
      asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
      return result;
    };
    float out[HEAD / 2] = {}, scores[KEYS / 2], largest[2] = {minus_infinity, minus_infinity}, total[2] = {0, 0}, factor[2];
    u32 weights[PARTS][KEYS / 16][4];
    const auto multiply_keys = [&](u32 slot) {
#pragma unroll
      for (int part = 0; part < HEAD / 16; ++part)
        $multiply$(scores, descriptor(own_queries + part / 4 * PIECE + part % 4 * 32), descriptor(ring_start + slot * TILE + part / 4 * PIECE + part % 4 * 32), part > 0);
      product_commit();
    };
    const auto multiply_values = [&](u32 slot) {
#pragma unroll
      for (int part = 0; part < KEYS / 16 * PARTS; ++part)
        $multiply$<1>(out, weights[part % PARTS][part / PARTS], transposed_descriptor(ring_start + slot * TILE + part / PARTS * 2048, PIECE), 1);
      product_commit();
    };
    // Scores become powers of their distance to the largest of their row so far; `factor` is what all earlier ones lose.
    const auto soften = [&](int tile) {
      const int first = tile * KEYS + lane % 4 * 2;
#pragma unroll
      for (int i = 0; i < KEYS / 2; ++i)
        if (!$positive$) scores[i] *= scale;
      const int end[2] = {CAUSAL ? min($T$, row + 1) : $T$, CAUSAL ? min($T$, row + 9) : $T$};
      if (tile * KEYS + KEYS > (CAUSAL ? min($T$, start + 64 * half + 1) : $T$)) {
#pragma unroll
        for (int i = 0; i < KEYS / 2; ++i)
          if (first + i / 4 * 8 + i % 2 >= end[i / 2 % 2]) scores[i] = minus_infinity;
      }
      const float by = $positive$ ? scale : 1.0f;
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        float most = largest[r];
#pragma unroll
        for (int i = 0; i < KEYS / 2; ++i)
          if (i / 2 % 2 == r) most = fmaxf(most, scores[i]);
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 1));
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 2));
        factor[r] = power((largest[r] - most) * by);
        largest[r] = most;
        const float away = most * by;
        float sum = 0;
#pragma unroll
        for (int i = 0; i < KEYS / 2; ++i)
          if (i / 2 % 2 == r) sum += scores[i] = power(fmaf(scores[i], by, -away));
        total[r] = total[r] * factor[r] + sum;
      }
    };
    // Their values of 16 bits, and what those leave over where that matters.
    const auto pack_weights = [&]() {
#pragma unroll
      for (int i = 0; i < KEYS / 4; ++i) {
        const u32 packed = weights[0][i / 4][i % 4] = $packed$(scores[2 * i], scores[2 * i + 1]);
        if (PARTS > 1) weights[PARTS - 1][i / 4][i % 4] = $packed$(scores[2 * i] - $low$, scores[2 * i + 1] - $high$);
      }
    };
    const auto release = [&](u32 slot) {
      if (leader) arrive(empty + 8 * slot);
    };
    // The warpgroups take turns, so that one multiplies while the other computes powers.
    if (IN_TURNS && half == 1) named_arrive(1, 256);
    wait(ready, 0);
    wait(full + 8 * ring.slot, ring.parity);
    product_fence();
    multiply_keys(ring.slot);
    product_wait<0>();
    hold(scores);
    release(ring.slot);
    ring.next();
    soften(0);
    pack_weights();
    for (int tile = 1; tile < tiles; ++tile) {
      if (IN_TURNS) named_wait(1 + half, 256);
      const u32 key_slot = ring.slot;
      wait(full + 8 * key_slot, ring.parity);
      ring.next();
      const u32 value_slot = ring.slot;
      product_fence();
      multiply_keys(key_slot);
      wait(full + 8 * value_slot, ring.parity);
      ring.next();
      multiply_values(value_slot);
      if (IN_TURNS && (half == 0 || tile + 1 < tiles)) named_arrive(2 - half, 256);
      product_wait<1>();
      hold(scores);
      release(key_slot);
      soften(tile);
      product_wait<0>();
      hold(out);
      release(value_slot);
#pragma unroll
      for (int i = 0; i < HEAD / 2; ++i) out[i] *= factor[i / 2 % 2];
      pack_weights();
    }
    if (IN_TURNS && tiles == 1 && half == 0) named_wait(1, 256);
    wait(full + 8 * ring.slot, ring.parity);
    product_fence();
    multiply_values(ring.slot);
    product_wait<0>();
    hold(out);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      total[r] += __shfl_xor_sync(0xffffffff, total[r], 1);
      total[r] += __shfl_xor_sync(0xffffffff, total[r], 2);
      if (row + 8 * r >= $T$) continue;
      const float by = 1 / total[r];
      u32* const to = reinterpret_cast<u32*>($O$ + (size_t(batch) * $T$ + row + 8 * r) * $H$);
#pragma unroll
      for (int i = 2 * r; i < HEAD / 2; i += 4) {
        const int column = i / 4 * 8 + lane % 4 * 2;
        if (column < $H$) to[column / 2] = $packed$(out[i] * by, out[i + 1] * by);
      }
    }
  }
}
