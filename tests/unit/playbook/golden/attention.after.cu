//@ of      attention.before.cu sha256:61f87e53443826ed1fffb9ff7c3281888a44adef3d308f81ed7751d8328005a0
//@ tune    QUERIES = 128 | 64
//@ tune    WARP_QUERIES = 32 | 16
//@ launch  tensor_attention<<<dim3(ceil_div(T, QUERIES), B), QUERIES / WARP_QUERIES * 32, (128 + 2 * QUERIES) * 144>>>(Q, K, V, T, H, O)
// playbook: as written/fused

constexpr bool EXACT = true;  // a factor is the sum of two halves of TF32 precision

template <int BYTES>
__device__ __forceinline__ void copy_async(float* to, const float* from, bool inside) {
  const unsigned at = unsigned(__cvta_generic_to_shared(to));
  if (BYTES == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(inside ? 16 : 0));
  else asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(inside ? 4 : 0));
}

// As high and low halves of TF32 precision. Not for more than 4e34, where the product by 2^13 + 1 (Veltkamp) is infinite.
__device__ __forceinline__ void halves(float value, unsigned& high, unsigned& low) {
  // NaN is left as it is: the sum would carry into its sign.
  const float rounded = EXACT ? fmaf(value, -8192.0f, value * 8193.0f) : value == value ? __uint_as_float(__float_as_uint(value) + 0x1000u) : value;
  high = __float_as_uint(rounded);
  low = __float_as_uint(value - rounded);
}

__device__ __forceinline__ void multiply_add(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void load_matrices(const float* from, unsigned (&to)[4]) {
  const unsigned at = unsigned(__cvta_generic_to_shared(from));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at));
}

// Zero where it would be smaller than normal numbers.
__device__ __forceinline__ float power_of_two(float exponent) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(exponent));
  return result;
}

__global__ void __launch_bounds__(QUERIES / WARP_QUERIES * 32, 192 / QUERIES) tensor_attention(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V, int T, int H, float* __restrict__ O) {
  // WARP_QUERIES queries of a warp by 32 keys at a time; the next keys and values are on their way meanwhile.
  constexpr int HEAD = 32, KEYS = 32, LINE = HEAD + 4, TILES = WARP_QUERIES / 16, THREADS = QUERIES / WARP_QUERIES * 32;
  extern __shared__ __align__(16) float tiles[];
  float* q_tile = tiles + 4 * KEYS * LINE;  // high halves, then low ones
  const int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 * WARP_QUERIES;
  // The last queries have the most keys: they go first.
  const int start = int(gridDim.x - 1 - blockIdx.x) * QUERIES, first_row = start + warp_row + lane / 4;
  const size_t matrix = size_t(blockIdx.y) * T * H;
  const int begin = 0, end = min(T, start + QUERIES);
  const float scale = 1.44269504f / sqrtf(float(H));  // of differences of scores, which are small where they matter, in powers of two
  const auto copy = [&](float* to, const float* from, int first, int rows) {
#pragma unroll
    for (int i = threadIdx.x; i < rows * HEAD / 4; i += THREADS) {
      const int row = i / (HEAD / 4), h = i % (HEAD / 4) * 4;
      const float* at = from + matrix + size_t(first + row) * H + h;
      if (H % 4 == 0) {
        const bool inside = first + row < T && h < H;
        copy_async<16>(to + row * LINE + h, inside ? at : from, inside);
      } else {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const bool inside = first + row < T && h + j < H;
          copy_async<4>(to + row * LINE + h + j, inside ? at + j : from, inside);
        }
      }
    }
  };
  const auto copy_keys = [&](float* to, int first) {
    if (first < end) {
      copy(to, K, first, KEYS);
      copy(to + KEYS * LINE, V, first, KEYS);
    }
    asm volatile("cp.async.commit_group;");
  };
  copy(q_tile, Q, start, QUERIES);
  copy_keys(tiles, begin);
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  // Every thread cuts the queries that it has copied.
#pragma unroll
  for (int i = threadIdx.x; i < QUERIES * HEAD / 4; i += THREADS) {
    float* at = q_tile + i / (HEAD / 4) * LINE + i % (HEAD / 4) * 4;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      unsigned high, low;
      halves(at[j], high, low);
      at[j] = __uint_as_float(high);
      if (EXACT) at[QUERIES * LINE + j] = __uint_as_float(low);
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
    if (first >= start + warp_row + WARP_QUERIES) continue;
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
          if (EXACT) load_matrices(at + QUERIES * LINE, q_low[m][d]);
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
    if (first + KEYS > T || first + KEYS > start + warp_row + 1) {
#pragma unroll
      for (int m = 0; m < TILES; ++m)
#pragma unroll
        for (int j = 0; j < KEYS / 8; ++j)
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const int key = first + j * 8 + lane % 4 * 2 + i % 2;
            if (key >= T || key > first_row + m * 16 + i / 2 * 8) score[m][j][i] = -1e30f;
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
    if (row >= T) continue;
    float* to = O + matrix + size_t(row) * H;
#pragma unroll
    for (int n = 0; n < HEAD / 8; n += 2) {
      const int h = n * 8 + lane % 4 * 4;
      const float4 four = make_float4(result[m][n][2 * r] / total[m][r], result[m][n + 1][2 * r] / total[m][r], result[m][n][2 * r + 1] / total[m][r],
                                      result[m][n + 1][2 * r + 1] / total[m][r]);
      if (H % 4 == 0) {
        if (h < H) *reinterpret_cast<float4*>(to + h) = four;
      } else {
        if (h < H) to[h] = four.x;
        if (h + 1 < H) to[h + 1] = four.y;
        if (h + 2 < H) to[h + 2] = four.z;
        if (h + 3 < H) to[h + 3] = four.w;
      }
    }
  }
}
