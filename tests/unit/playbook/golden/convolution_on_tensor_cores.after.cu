//@ of      convolution_on_tensor_cores.before.cu sha256:7534b4cf86815598db3fc738ce5ce50e6f2f3a57587727d93985c6b83a37d81c
//@ tune    TILE_O = 64 | 32
//@ tune    TILE_P = 128 | 64
//@ launch  tensor_transposed_convolution<<<dim3(ceil_div((B * (ceil_div((H - 1) * 2 + 1, 2))) * (ceil_div((V - 1) * 2 + 1, 2)), TILE_P), ceil_div(O, TILE_O), 2 * 2), 128, (TILE_O + TILE_P > 192 ? 3 : 4) * (TILE_O * 36 + 32 * (TILE_P + 8)) * 4>>>(X, weight, bias, Y, V, (V - 1) * 2 + 1, H, (H - 1) * 2 + 1, C, O, B, (O * ((H - 1) * 2 + 1)) * ((V - 1) * 2 + 1), ((H - 1) * 2 + 1) * ((V - 1) * 2 + 1), H * V)
// playbook: as written/tensor cores, gathered

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

// In shared memory a line of a tile is padded by 4 floats, or a depth by 8, so that no two lanes meet in a bank.
template <bool ALONG_DEPTH, int TILE, int STEP>
__device__ constexpr int tile_floats = ALONG_DEPTH ? TILE * (STEP + 4) : STEP * (TILE + 8);

// TILE lines by STEP depths of a factor, zero beyond its edges. ALONG_DEPTH: neighbours in memory lie along the depth.
// WHOLE: packs of four are aligned and never cross an edge.
template <bool WHOLE, bool ALONG_DEPTH, int TILE, int STEP>
__device__ __forceinline__ void copy_tile(float* tile, const float* from, int line_start, int lines, int depth_start, int depth) {
#pragma unroll
  for (int pack = threadIdx.x; pack < TILE * STEP / 4; pack += 128) {
    const int line = ALONG_DEPTH ? pack / (STEP / 4) : pack % (TILE / 4) * 4;
    const int k = ALONG_DEPTH ? pack % (STEP / 4) * 4 : pack / (TILE / 4);
    const int at_line = line_start + line, at_depth = depth_start + k;
    const float* at = from + (ALONG_DEPTH ? size_t(at_line) * depth + at_depth : size_t(at_depth) * lines + at_line);
    float* to = tile + (ALONG_DEPTH ? line * (STEP + 4) + k : k * (TILE + 8) + line);
    if (WHOLE) {
      const bool inside = at_line < lines && at_depth < depth;
      copy_async<16>(to, inside ? at : from, inside);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const bool inside = at_line + (ALONG_DEPTH ? 0 : i) < lines && at_depth + (ALONG_DEPTH ? i : 0) < depth;
        copy_async<4>(to + i, inside ? at + i : from, inside);
      }
    }
  }
}

// 16 lines by 8 depths, as the tensor cores want them, as high and low halves of TF32 precision.
template <bool ALONG_DEPTH, int TILE, int STEP>
__device__ __forceinline__ void fragment(const float* tile, int line, int k, unsigned (&high)[4], unsigned (&low)[4]) {
  const int lane = threadIdx.x % 32;
  unsigned held[4];
  if (ALONG_DEPTH) {
    const unsigned at = unsigned(__cvta_generic_to_shared(tile + (line + lane % 16) * (STEP + 4) + k + lane / 16 * 4));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(held[0]), "=r"(held[1]), "=r"(held[2]), "=r"(held[3]) : "r"(at));
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) held[i] = __float_as_uint(tile[(k + lane % 4 + i / 2 * 4) * (TILE + 8) + line + lane / 4 + i % 2 * 8]);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) halves(__uint_as_float(held[i]), high[i], low[i]);
}

// Adds the product of a tile and of fragments, 16 columns by 8 depths, that `right` gives to the sums. Four warps own a quarter
// of them each. The tensor cores cut what they add up rather than round it: so they sum over DEPTHS steps of eight only, two
// where registers are left for the fragments.
template <bool LEFT_ALONG, int ROWS, int COLUMNS, int STEP, class Right>
__device__ __forceinline__ void multiply_fragments(float (&sum)[ROWS / 32][COLUMNS / 16][4], const float* left, const Right& right) {
  constexpr int DEPTHS = ROWS * COLUMNS > 8192 ? 1 : 2;
  const int row = threadIdx.x / 64 * (ROWS / 2);
#pragma unroll
  for (int k = 0; k < STEP; k += 8 * DEPTHS) {
    unsigned b_high[DEPTHS][COLUMNS / 32][4], b_low[DEPTHS][COLUMNS / 32][4];
#pragma unroll
    for (int d = 0; d < DEPTHS; ++d)
#pragma unroll
      for (int j = 0; j < COLUMNS / 32; ++j) right(j, k + d * 8, b_high[d][j], b_low[d][j]);
#pragma unroll
    for (int i = 0; i < ROWS / 32; ++i) {
      unsigned a_high[DEPTHS][4], a_low[DEPTHS][4];
#pragma unroll
      for (int d = 0; d < DEPTHS; ++d) fragment<LEFT_ALONG, ROWS, STEP>(left, row + i * 16, k + d * 8, a_high[d], a_low[d]);
#pragma unroll
      for (int j = 0; j < COLUMNS / 16; ++j) {
        float part[4] = {};
        float (&to)[4] = EXACT ? part : sum[i][j];
#pragma unroll
        for (int d = 0; EXACT && d < DEPTHS; ++d) {
          multiply_add(to, a_low[d], b_high[d][j / 2][j % 2], b_high[d][j / 2][j % 2 + 2]);
          multiply_add(to, a_high[d], b_low[d][j / 2][j % 2], b_low[d][j / 2][j % 2 + 2]);
        }
#pragma unroll
        for (int d = 0; d < DEPTHS; ++d) multiply_add(to, a_high[d], b_high[d][j / 2][j % 2], b_high[d][j / 2][j % 2 + 2]);
        if (!EXACT) continue;
#pragma unroll
        for (int q = 0; q < 4; ++q) sum[i][j][q] += part[q];
      }
    }
  }
}

// The same of two tiles.
template <bool LEFT_ALONG, bool RIGHT_ALONG, int ROWS, int COLUMNS, int STEP>
__device__ __forceinline__ void multiply_tiles(float (&sum)[ROWS / 32][COLUMNS / 16][4], const float* left, const float* right) {
  const int column = threadIdx.x / 32 % 2 * (COLUMNS / 2);
  multiply_fragments<LEFT_ALONG, ROWS, COLUMNS, STEP>(sum, left, [&](int j, int k, unsigned (&high)[4], unsigned (&low)[4]) {
    fragment<RIGHT_ALONG, COLUMNS, STEP>(right, column + j * 16, k, high, low);
  });
}

// The tile's share of the product from depth `begin` to `end`.
template <bool WHOLE, bool LEFT_ALONG, bool RIGHT_ALONG, int ROWS, int COLUMNS, int STEP, int STAGES>
__device__ __forceinline__ void tensor_tile(float (&sum)[ROWS / 32][COLUMNS / 16][4], const float* left, const float* right,
                                            int row_start, int column_start, int rows, int columns, int depth, int begin, int end) {
  extern __shared__ __align__(16) float tiles[];
  constexpr int LEFT = tile_floats<LEFT_ALONG, ROWS, STEP>, BOTH = LEFT + tile_floats<RIGHT_ALONG, COLUMNS, STEP>;
  const auto copy = [&](int stage, int k) {
    if (k < end) {
      copy_tile<WHOLE, LEFT_ALONG, ROWS, STEP>(tiles + stage * BOTH, left, row_start, rows, k, depth);
      copy_tile<WHOLE, RIGHT_ALONG, COLUMNS, STEP>(tiles + stage * BOTH + LEFT, right, column_start, columns, k, depth);
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
    const float* left_tile = tiles + now * BOTH;
    now = (now + 1) % STAGES;
    multiply_tiles<LEFT_ALONG, RIGHT_ALONG, ROWS, COLUMNS, STEP>(sum, left_tile, left_tile + LEFT);
  }
}

__global__ void __launch_bounds__(128, 2) tensor_transposed_convolution(const float* __restrict__ X, const float* __restrict__ weight_, const float* __restrict__ bias, float* __restrict__ Y, int V, int n5, int H, int n7, int C, int O, int B, int n11, int n12, int n13) {
  // Output channels by positions, summed over channels and taps: a product whose right factor is gathered.
  constexpr int STEP = 32, STAGES = (TILE_O + TILE_P > 192 ? 3 : 4), NOWHERE = -(1 << 28);
  constexpr int LEFT = tile_floats<true, TILE_O, STEP>, BOTH = LEFT + tile_floats<false, TILE_P, STEP>;
  struct Tap { int from, weight, d, h, w; };
  extern __shared__ __align__(16) float tiles[];
  __shared__ Tap taps[2][STEP];
  constexpr int group = 0;
  const int r_w = blockIdx.z % 2, QW = (n5 - r_w + 1) / 2;
  const int first_w = (r_w + 1) % 2, TW = (3 - first_w + 1) / 2, add_w = (r_w + 1) / 2;
  const int r_h = blockIdx.z / 2 % 2, QH = (n7 - r_h + 1) / 2;
  const int first_h = (r_h + 1) % 2, TH = (3 - first_h + 1) / 2, add_h = (r_h + 1) / 2;
  constexpr int QD = 1;
  constexpr int TD = 1;
  constexpr int first_d = 0, add_d = 0;
  const int depth = C * TD * TH * TW, positions = B * QD * QH * QW;
  if (int(blockIdx.x) * TILE_P >= positions) return;
  const int o_start = blockIdx.y * TILE_O;
  const auto tap = [&](int k) {
    if (k >= depth) return Tap{0, -1, 0, 0, NOWHERE};
    const int channel = k / (TD * TH * TW), d = k / (TH * TW) % TD, h = k / TW % TH, w = k % TW;
    return Tap{((channel * 1 + d * -1) * H + h * -1) * V + w * -1,
               channel * O * 9 + ((first_d + d * 1) * 3 + first_h + h * 2) * 3 + first_w + w * 2,
               d * -1, h * -1, w * -1};
  };
  // The position that this thread gathers for; beyond the last one its results are dropped.
  const int own = threadIdx.x % TILE_P, position = min(int(blockIdx.x) * TILE_P + own, positions - 1);
  const int d0 = position / (QH * QW) % QD * 1 + add_d, h0 = position / QW % QH * 1 + add_h;
  const int w0 = position % QW * 1 + add_w;
  const float* x = X + (size_t(position / (QD * QH * QW)) * C + group * C) * n13;
  const int base = (d0 * H + h0) * V + w0;
  const float* kernel = weight_ + size_t(group) * C * O * 9;
  // The taps of a step are in their table one step before its copies start.
  const auto tabulate = [&](int step) {
    if (threadIdx.x < STEP) taps[step % 2][threadIdx.x] = tap(step * STEP + threadIdx.x);
  };
  const auto copy = [&](int step) {
    if (step * STEP < depth) {
      float *left = tiles + step % STAGES * BOTH, *right = left + LEFT;
      const Tap* table = taps[step % 2];
#pragma unroll 8
      for (int line = threadIdx.x / STEP; line < TILE_O; line += 128 / STEP) {
        const int o = o_start + line, from = table[threadIdx.x % STEP].weight;
        const bool inside = o < O && from >= 0;
        copy_async<4>(left + line * (STEP + 4) + threadIdx.x % STEP, inside ? kernel + o * 9 + from : kernel, inside);
      }
#pragma unroll 8
      for (int k = threadIdx.x / TILE_P; k < STEP; k += 128 / TILE_P) {
        const Tap at = table[k];
        const int d = d0 + at.d, h = h0 + at.h, w = w0 + at.w;
        const bool there = unsigned(h) < unsigned(H) && unsigned(w) < unsigned(V);
        copy_async<4>(right + k * (TILE_P + 8) + own, there ? x + (base + at.from) : X, there);
      }
    }
    asm volatile("cp.async.commit_group;");
  };
  for (int step = 0; step < STAGES - 1; ++step) {
    tabulate(step);
    __syncthreads();
    copy(step);
  }
  tabulate(STAGES - 1);
  float sum[TILE_O / 32][TILE_P / 16][4] = {};
  for (int step = 0; step * STEP < depth; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
    __syncthreads();
    copy(step + STAGES - 1);
    tabulate(step + STAGES);
    const float* left = tiles + step % STAGES * BOTH;
    multiply_tiles<true, false, TILE_O, TILE_P, STEP>(sum, left, left + LEFT);
  }
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
  for (int j = 0; j < TILE_P / 8; ++j) {
    const int at = blockIdx.x * TILE_P + warp % 2 * (TILE_P / 2) + j / 2 * 8 + lane % 4 * 2 + j % 2;
    if (at >= positions) continue;
    const int at_b = at / (QD * QH * QW), at_d = at / (QH * QW) % QD, at_h = at / QW % QH * 2 + r_h, at_w = at % QW * 2 + r_w;
#pragma unroll
    for (int i = 0; i < TILE_O / 16; ++i) {
      const int o = o_start + warp / 2 * (TILE_O / 2) + i * 8 + lane / 4;
      if (o >= O) continue;
      const int at_o = group * O + o;
      const float produced = sum[i / 2][j / 2][i % 2 * 2 + j % 2];
      const float v1 = float(bias[at_o]);
      const float v2 = produced + v1;
      const float v3 = v2 < 0 ? 0 : v2;
      Y[size_t(at_b) * n11 + size_t(at_o) * n12 + size_t(at_h) * n5 + at_w] = v3;
    }
  }
}
