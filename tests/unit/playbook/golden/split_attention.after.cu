//@ of      split_attention.before.cu sha256:6bd3eeee9cdb5e628d4ae15804f00da43d1f8aaf1662a0852e5ac93253656aea
//@ tune    QUERIES = 64 | 32
//@ tune    PART = 256 | 128 | 512
//@ scratch S: float32[ceil_div(T, PART), 1, T, H]
//@ scratch S_2: float32[ceil_div(T, PART), 1, T, 2]
//@ launch  tensor_attention<<<dim3(ceil_div(T, QUERIES), 1, ceil_div(T, PART)), QUERIES * 2, 26624>>>(Q, K, V, T, H, S, S_2)
//@ launch  tensor_attention_total<<<ceil_div(T * H, 256), 256>>>(S, S_2, O, T, H)
// playbook: as written/tensor cores

constexpr bool EXACT = true;  // a factor is the sum of two halves of TF32 precision

template <int BYTES>
__device__ __forceinline__ void copy_async(float* to, const float* from, bool inside) {
  const unsigned at = unsigned(__cvta_generic_to_shared(to));
  if (BYTES == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(inside ? 16 : 0));
  else asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(inside ? 4 : 0));
}

// As high and low halves of TF32 precision. Not for more than 4e34, where the product by 2^13 + 1 (Veltkamp) is infinite.
__device__ __forceinline__ void halves(float value, unsigned& high, unsigned& low) {
  const float rounded = EXACT ? fmaf(value, -8192.0f, value * 8193.0f) : __uint_as_float(__float_as_uint(value) + 0x1000u);
  high = __float_as_uint(rounded);
  low = __float_as_uint(value - rounded);
}

__device__ __forceinline__ void multiply_add(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void multiply_add_halves(float (&sum)[4], const unsigned (&high)[4], const unsigned (&low)[4], float b0, float b1) {
  unsigned b0_high, b0_low, b1_high, b1_low;
  halves(b0, b0_high, b0_low);
  halves(b1, b1_high, b1_low);
  if constexpr (EXACT) {
    multiply_add(sum, low, b0_high, b1_high);
    multiply_add(sum, high, b0_low, b1_low);
  }
  multiply_add(sum, high, b0_high, b1_high);
}

__global__ void __launch_bounds__(QUERIES * 2) tensor_attention(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V, int T, int H, float* __restrict__ S, float* __restrict__ S_2) {
  // Sixteen queries of a warp by 32 keys at a time; the next keys and values are on their way meanwhile.
  constexpr int HEAD = 48, KEYS = 32, LINE = HEAD + 4;
  extern __shared__ __align__(16) float tiles[];
  const int lane = threadIdx.x % 32;
  // The last queries have the most keys: they go first.
  const int start = int(gridDim.x - 1 - blockIdx.x) * QUERIES, first_row = start + threadIdx.x / 32 * 16 + lane / 4;
  const size_t matrix = size_t(blockIdx.y) * T * H;
  const int begin = blockIdx.z * PART, end = min(min(T, start + QUERIES), begin + PART);
  if (begin >= end) return;
  const float scale = 1.44269504f / sqrtf(float(H));  // of scores in powers of two
  float q[HEAD / 8][4];
#pragma unroll
  for (int k = 0; k < HEAD / 8; ++k)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = first_row + i % 2 * 8, h = k * 8 + lane % 4 + i / 2 * 4;
      q[k][i] = row < T && h < H ? Q[matrix + size_t(row) * H + h] * scale : 0.0f;
    }
  const auto copy = [&](float* to, int first) {
    if (first < end)
      for (int i = threadIdx.x; i < KEYS * HEAD / 4; i += QUERIES * 2) {
        const int key = i / (HEAD / 4), h = i % (HEAD / 4) * 4;
        const size_t from = matrix + size_t(first + key) * H + h;
        float* k = to + key * LINE + h;
        if (H % 4 == 0) {
          const bool inside = first + key < T && h < H;
          copy_async<16>(k, inside ? K + from : K, inside);
          copy_async<16>(k + KEYS * LINE, inside ? V + from : V, inside);
        } else {
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            const bool inside = first + key < T && h + j < H;
            copy_async<4>(k + j, inside ? K + from + j : K, inside);
            copy_async<4>(k + KEYS * LINE + j, inside ? V + from + j : V, inside);
          }
        }
      }
    asm volatile("cp.async.commit_group;");
  };
  float result[HEAD / 8][4] = {}, largest[2] = {-1e30f, -1e30f}, total[2] = {};
  copy(tiles, begin);
  int stage = 0;
  for (int first = begin; first < end; first += KEYS) {
    asm volatile("cp.async.wait_group 0;");
    __syncthreads();
    copy(tiles + (1 - stage) * 2 * KEYS * LINE, first + KEYS);
    const float *k_tile = tiles + stage * 2 * KEYS * LINE, *v_tile = k_tile + KEYS * LINE;
    stage = 1 - stage;
    float score[KEYS / 8][4] = {};
#pragma unroll
    for (int k = 0; k < HEAD / 8; ++k) {
      unsigned high[4], low[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) halves(q[k][i], high[i], low[i]);
#pragma unroll
      for (int j = 0; j < KEYS / 8; ++j) {
        const float* at = k_tile + (j * 8 + lane / 4) * LINE + k * 8 + lane % 4;
        float part[4] = {};
        multiply_add_halves(part, high, low, at[0], at[4]);
#pragma unroll
        for (int i = 0; i < 4; ++i) score[j][i] += part[i];
      }
    }
    unsigned p_high[KEYS / 8][4], p_low[KEYS / 8][4];
    float shrink[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float most = largest[r];
#pragma unroll
      for (int j = 0; j < KEYS / 8; ++j)
#pragma unroll
        for (int i = 2 * r; i < 2 * r + 2; ++i) {
          const int key = first + j * 8 + lane % 4 * 2 + i % 2;
          if (key >= T || key > first_row + r * 8) score[j][i] = -1e30f;
          most = fmaxf(most, score[j][i]);
        }
      most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1));
      most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 2));
      shrink[r] = exp2f(largest[r] - most);
      largest[r] = most;
      total[r] *= shrink[r];
#pragma unroll
      for (int j = 0; j < KEYS / 8; ++j)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const float p = exp2f(score[j][2 * r + i] - most);
          total[r] += p;
          halves(p, p_high[j][r + 2 * i], p_low[j][r + 2 * i]);
        }
    }
#pragma unroll
    for (int n = 0; n < HEAD / 8; ++n) {
      float part[4] = {};
#pragma unroll
      for (int j = 0; j < KEYS / 8; ++j) {
        const float* at = v_tile + (j * 8 + lane % 4 * 2) * LINE + n * 8 + lane / 4;
        multiply_add_halves(part, p_high[j], p_low[j], at[0], at[LINE]);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) result[n][i] = result[n][i] * shrink[i / 2] + part[i];
    }
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = first_row + r * 8;
    total[r] += __shfl_xor_sync(0xffffffffu, total[r], 1);
    total[r] += __shfl_xor_sync(0xffffffffu, total[r], 2);
    if (row >= T) continue;
    const size_t line = (size_t(blockIdx.z) * gridDim.y + blockIdx.y) * T + row;
    if (lane % 4 == 0) S_2[line * 2] = largest[r], S_2[line * 2 + 1] = total[r];
#pragma unroll
    for (int c = 0; c < HEAD / 4; ++c) {
      const int h = c / 2 * 8 + lane % 4 * 2 + c % 2;
      if (h < H) S[line * H + h] = result[c / 2][r * 2 + c % 2];
    }
  }
}

__global__ void __launch_bounds__(256) tensor_attention_total(const float* __restrict__ S, const float* __restrict__ S_2, float* __restrict__ O, int T, int H) {
  const size_t rows = T, at = size_t(blockIdx.x) * 256 + threadIdx.x, row = at / H;
  if (row >= rows) return;
  const int parts = int(row % T) / PART + 1;
  float most = -1e30f, sum = 0, total = 0;
  for (int part = 0; part < parts; ++part) most = fmaxf(most, S_2[(part * rows + row) * 2]);
#pragma unroll 4
  for (int part = 0; part < parts; ++part) {
    const float weight = exp2f(S_2[(part * rows + row) * 2] - most);
    total += weight * S_2[(part * rows + row) * 2 + 1];
    sum += weight * S[part * rows * H + at];
  }
  O[at] = sum / total;
}
