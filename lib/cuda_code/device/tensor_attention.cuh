// SPDX-License-Identifier: Apache-2.0
//$ Each warp keeps its queries' scores and results in the layout of the tensor cores' accumulators. A sum over keys may take
//$ them in any order, so the scores of keys 2t and 2t + 1 serve as the columns t and t + 4 of the second product's left
//$ factor without leaving their lane. Nor does the order of the result's columns matter: two neighbouring tiles of eight take
//$ the even and the odd ones of sixteen, so that a lane reads both tiles' values at once and writes four neighbours.
//$ needs tf32_halves.cuh tensor_attention_functions.cuh

__global__ void __launch_bounds__($queries$ / $own$ * 32, $resident$ / $queries$) $name$($parameters$) {
  // $own$ queries of a warp by 32 keys at a time; the next keys and values are on their way meanwhile.
  constexpr int HEAD = $head$, KEYS = 32, LINE = HEAD + 4, TILES = $own$ / 16, THREADS = $queries$ / $own$ * 32;
  extern __shared__ __align__(16) float tiles[];
  float* q_tile = tiles + 4 * KEYS * LINE;  // high halves, then low ones
  const int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 * $own$;
  // The last queries have the most keys: they go first.
  const int start = int(gridDim.x - 1 - blockIdx.x) * $queries$, first_row = start + warp_row + lane / 4;
  const size_t matrix = size_t(blockIdx.y) * $T$ * $H$;
$range$
  const float scale = $scale$;  // of differences of scores, which are small where they matter, in powers of two
  const auto copy = [&](float* to, const float* from, int first, int rows) {
#pragma unroll
    for (int i = threadIdx.x; i < rows * HEAD / 4; i += THREADS) {
      const int row = i / (HEAD / 4), h = i % (HEAD / 4) * 4;
      const float* at = from + matrix + size_t(first + row) * $H$ + h;
      if ($H$ % 4 == 0) {
        const bool inside = first + row < $T$ && h < $H$;
        copy_async<16>(to + row * LINE + h, inside ? at : from, inside);
      } else {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const bool inside = first + row < $T$ && h + j < $H$;
          copy_async<4>(to + row * LINE + h + j, inside ? at + j : from, inside);
        }
      }
    }
  };
  const auto copy_keys = [&](float* to, int first) {
    if (first < end) {
      copy(to, $K$, first, KEYS);
      copy(to + KEYS * LINE, $V$, first, KEYS);
    }
    asm volatile("cp.async.commit_group;");
  };
  copy(q_tile, $Q$, start, $queries$);
  copy_keys(tiles, begin);
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  // Every thread cuts the queries that it has copied.
#pragma unroll
  for (int i = threadIdx.x; i < $queries$ * HEAD / 4; i += THREADS) {
    float* at = q_tile + i / (HEAD / 4) * LINE + i % (HEAD / 4) * 4;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      unsigned high, low;
      halves(at[j], high, low);
      at[j] = __uint_as_float(high);
      if (EXACT) at[$queries$ * LINE + j] = __uint_as_float(low);
    }
  }
  float result[TILES][HEAD / 8][4] = {}, largest[TILES][2], total[TILES][2] = {};
#pragma unroll
  for (int m = 0; m < TILES; ++m) largest[m][0] = largest[m][1] = -1e30f;
  int stage = 0;
  for (int first = begin; first < end; first += KEYS) {
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    copy_keys(tiles + (1 - stage) * 2 * KEYS * LINE, first + KEYS);
    const float *k_tile = tiles + stage * 2 * KEYS * LINE, *v_tile = k_tile + KEYS * LINE;
    stage = 1 - stage;
$needed$
    // The tensor cores cut what they add up rather than round it: so they sum over sixteen depths only, small terms first.
    float score[TILES][KEYS / 8][4] = {};
#pragma unroll (TILES == 1 ? 2 : 1)
    for (int k = 0; k < HEAD; k += 16) {
      unsigned q_high[TILES][2][4], q_low[TILES][2][4];
#pragma unroll
      for (int m = 0; m < TILES; ++m)
#pragma unroll
        for (int d = 0; d < 2; ++d) {
          const float* at = q_tile + (warp_row + m * 16 + lane % 16) * LINE + k + d * 8 + lane / 16 * 4;
          load_matrices(at, q_high[m][d]);
          if (EXACT) load_matrices(at + $queries$ * LINE, q_low[m][d]);
        }
#pragma unroll
      for (int j = 0; j < KEYS / 8; j += 2) {
        unsigned k_high[2][4], k_low[2][4];
#pragma unroll
        for (int n = 0; n < 2; ++n) {
          unsigned held[4];
          load_matrices(k_tile + ((j + n) * 8 + lane % 8) * LINE + k + lane / 8 * 4, held);
#pragma unroll
          for (int i = 0; i < 4; ++i) halves(__uint_as_float(held[i]), k_high[n][i], k_low[n][i]);
        }
        float part[TILES][2][4] = {};
#pragma unroll
        for (int d = 0; EXACT && d < 2; ++d) {
#pragma unroll
          for (int at = 0; at < TILES * 2; ++at)
            multiply_add(part[at / 2][at % 2], q_low[at / 2][d], k_high[at % 2][2 * d], k_high[at % 2][2 * d + 1]);
#pragma unroll
          for (int at = 0; at < TILES * 2; ++at)
            multiply_add(part[at / 2][at % 2], q_high[at / 2][d], k_low[at % 2][2 * d], k_low[at % 2][2 * d + 1]);
        }
#pragma unroll
        for (int d = 0; d < 2; ++d)
#pragma unroll
          for (int at = 0; at < TILES * 2; ++at)
            multiply_add(part[at / 2][at % 2], q_high[at / 2][d], k_high[at % 2][2 * d], k_high[at % 2][2 * d + 1]);
#pragma unroll
        for (int at = 0; at < TILES * 2; ++at)
#pragma unroll
          for (int i = 0; i < 4; ++i) score[at / 2][j + at % 2][i] += part[at / 2][at % 2][i];
      }
    }
    if (first + KEYS > $T$$may_mask$) {
#pragma unroll
      for (int m = 0; m < TILES; ++m)
#pragma unroll
        for (int j = 0; j < KEYS / 8; ++j)
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const int key = first + j * 8 + lane % 4 * 2 + i % 2;
            if (key >= $T$$masked$) score[m][j][i] = -1e30f;
          }
    }
    unsigned p_high[TILES][KEYS / 8][4], p_low[TILES][KEYS / 8][4];
    float shrink[TILES][2];
#pragma unroll
    for (int m = 0; m < TILES; ++m)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        float most = largest[m][r];
#pragma unroll
        for (int j = 0; j < KEYS / 8; ++j) most = fmaxf(most, fmaxf(score[m][j][2 * r], score[m][j][2 * r + 1]));
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1));
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 2));
        shrink[m][r] = power_of_two((largest[m][r] - most) * scale);
        largest[m][r] = most;
        total[m][r] *= shrink[m][r];
#pragma unroll
        for (int j = 0; j < KEYS / 8; ++j)
#pragma unroll
          for (int i = 0; i < 2; ++i) {
            const float p = power_of_two((score[m][j][2 * r + i] - most) * scale);
            total[m][r] += p;
            halves(p, p_high[m][j][r + 2 * i], p_low[m][j][r + 2 * i]);
          }
      }
#pragma unroll
    for (int n = 0; n < HEAD / 8; n += 2) {
      float part[TILES][2][4] = {};
#pragma unroll
      for (int j = 0; j < KEYS / 8; ++j) {
        unsigned v_high[2][2], v_low[2][2];  // of both tiles a key and the next one
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const float2 held = *reinterpret_cast<const float2*>(v_tile + (j * 8 + lane % 4 * 2 + i) * LINE + n * 8 + lane / 4 * 2);
          halves(held.x, v_high[0][i], v_low[0][i]);
          halves(held.y, v_high[1][i], v_low[1][i]);
        }
        if (EXACT) {
#pragma unroll
          for (int at = 0; at < TILES * 2; ++at)
            multiply_add(part[at / 2][at % 2], p_low[at / 2][j], v_high[at % 2][0], v_high[at % 2][1]);
#pragma unroll
          for (int at = 0; at < TILES * 2; ++at)
            multiply_add(part[at / 2][at % 2], p_high[at / 2][j], v_low[at % 2][0], v_low[at % 2][1]);
        }
#pragma unroll
        for (int at = 0; at < TILES * 2; ++at)
          multiply_add(part[at / 2][at % 2], p_high[at / 2][j], v_high[at % 2][0], v_high[at % 2][1]);
      }
#pragma unroll
      for (int at = 0; at < TILES * 2; ++at)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          result[at / 2][n + at % 2][i] = result[at / 2][n + at % 2][i] * shrink[at / 2][i / 2] + part[at / 2][at % 2][i];
    }
  }
#pragma unroll
  for (int at = 0; at < TILES * 2; ++at) {
    const int m = at / 2, r = at % 2, row = first_row + at * 8;
    total[m][r] += __shfl_xor_sync(0xffffffffu, total[m][r], 1);
    total[m][r] += __shfl_xor_sync(0xffffffffu, total[m][r], 2);
    if (row >= $T$) continue;
$row_store$
#pragma unroll
    for (int n = 0; n < HEAD / 8; n += 2) {
      const int h = n * 8 + lane % 4 * 4;
      const float4 four = make_float4(result[m][n][2 * r]$by$, result[m][n + 1][2 * r]$by$, result[m][n][2 * r + 1]$by$,
                                      result[m][n + 1][2 * r + 1]$by$);
      if ($H$ % 4 == 0) {
        if (h < $H$) *reinterpret_cast<float4*>(to + h) = four;
      } else {
        if (h < $H$) to[h] = four.x;
        if (h + 1 < $H$) to[h + 1] = four.y;
        if (h + 2 < $H$) to[h + 2] = four.z;
        if (h + 3 < $H$) to[h + 3] = four.w;
      }
    }
  }
}
