//@ of      transposed_on_tensor_cores.before.cu sha256:df0a419312fa73e1bf875c9b21227e334e7dfc5cc73855505b2072d68b4b619c
//@ tune    TILE_O = 64 | 32
//@ tune    TILE_P = 128 | 64
//@ tune    BLOCKS = 2 | 3 if TILE_O * TILE_P * BLOCKS <= 32768
//@ scratch S: float32[8, (O / 2 * 2) / 2, ceil_div((C / 2) * 4, 4) * 4]
//@ launch  arrange<<<dim3(ceil_div(((O / 2 * 2) / 2) * (ceil_div((C / 2) * 4, 4) * 4), 256), 1, 8), 256>>>(weight, S, C / 2, (O / 2 * 2) / 2, ceil_div((C / 2) * 4, 4) * 4)
//@ launch  tensor_transposed_convolution<<<dim3(ceil_div(ceil_div((V - 1) * 2 + 1, 2), 32) * ceil_div(B * (ceil_div((H - 1) * 2 + 1, 2)) * 32, TILE_P), ceil_div((O / 2 * 2) / 2, TILE_O), 2 * 2 * 2), 128, (3 * TILE_O * 36 + TILE_P * 5 + 64 + max(max(max(((TILE_P / 32 - 1) * 1 + 1) * (49 * 44 + 33 * 3), ((TILE_P / 32 - 1) * 1 + 1) * (97 * 44 + 33 * 3)), ((TILE_P / 32 - 1) * 1 + 2 + ceil_div(TILE_P / 32 - 1, max(1, ((H - 1) * 2 + 1) / 2)) * 1) * (25 * 44 + 33 * 3)), ((TILE_P / 32 - 1) * 1 + 2 + ceil_div(TILE_P / 32 - 1, max(1, ((H - 1) * 2 + 1) / 2)) * 1) * (49 * 44 + 33 * 3))) * 4>>>(X, S, bias, Y, V, (V - 1) * 2 + 1, H, (H - 1) * 2 + 1, C / 2, (O / 2 * 2) / 2, B, (O * ((H - 1) * 2 + 1)) * ((V - 1) * 2 + 1), ((H - 1) * 2 + 1) * ((V - 1) * 2 + 1), C, H * V, ceil_div((C / 2) * 4, 4) * 4)
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

__global__ void __launch_bounds__(256) arrange(const float* __restrict__ weight, float* __restrict__ S, int n2, int n3, int n4) {
  // For each group and residue a matrix of results by channels and taps.
  const int first_w = (blockIdx.z / 2 % 2 + 1) % 2, TW = (3 - first_w + 1) / 2, add_w = (blockIdx.z / 2 % 2 + 1) / 2;
  const int first_h = (blockIdx.z / 2 / 2 % 2 + 1) % 2, TH = (3 - first_h + 1) / 2, add_h = (blockIdx.z / 2 / 2 % 2 + 1) / 2;
  const int first_d = (blockIdx.z / 2 / 2 / 2 % 1 + 0) % 1, TD = (1 - first_d + 0) / 1, add_d = (blockIdx.z / 2 / 2 / 2 % 1 + 0) / 1;
  const int index = blockIdx.x * 256 + threadIdx.x, o = index / n4, k = index % n4, taps = TD * TH * TW;
  if (o >= n3) return;
  float value = 0;
  if (k < n2 * taps) {
    const int d = first_d + k % taps / (TH * TW) * 1, h = first_h + k / TW % TH * 2, w = first_w + k % TW * 2;
    value = weight[((size_t(blockIdx.z % 2) * n2 + k / taps) * n3 + o) * 9 + (d * 3 + h) * 3 + w];
  }
  S[(size_t(blockIdx.z) * n3 + o) * n4 + k] = value;
}

__global__ void __launch_bounds__(128, BLOCKS) tensor_transposed_convolution(const float* __restrict__ X, const float* __restrict__ S, const float* __restrict__ bias, float* __restrict__ Y, int V, int n5, int H, int n7, int n8, int n9, int B, int n11, int n12, int C, int n14, int n15) {
  // Output channels by positions, summed over channels and taps: a product whose right factor is read out of rows of inputs
  // that stand in shared memory once for all taps.
  constexpr int STEP = 32, STAGES = 3, LEFT = tile_floats<true, TILE_O, STEP>;
  // Columns of results that a tile spans, floats from row to row, threads that copy a plane.
  constexpr int STRIP = 32, LINE = 44, LANES = 64;
  struct Position { int b, d, h, w; };
  struct Element { int from, to, d; };
  // Tiles of weights; the tile's positions, and where their inputs start; where the inputs of a step's depths stand; the ring of
  // planes; where the elements of a plane come from and go to.
  extern __shared__ __align__(16) float tiles[];
  Position* places = reinterpret_cast<Position*>(tiles + STAGES * LEFT);
  int *starts = reinterpret_cast<int*>(places + TILE_P), *shifts = starts + TILE_P;
  float* ring = reinterpret_cast<float*>(shifts + 2 * STEP);
  const int group = blockIdx.z % 2;
  const int r_w = blockIdx.z / 2 % 2, QW = (n5 - r_w + 1) / 2;
  const int first_w = (r_w + 1) % 2, TW = (3 - first_w + 1) / 2, add_w = (r_w + 1) / 2;
  const int r_h = blockIdx.z / 2 / 2 % 2, QH = (n7 - r_h + 1) / 2;
  const int first_h = (r_h + 1) % 2, TH = (3 - first_h + 1) / 2, add_h = (r_h + 1) / 2;
  constexpr int QD = 1;
  constexpr int TD = 1;
  constexpr int first_d = 0, add_d = 0;
  const int span_h = TH, span_w = TW, pitch_h = min(1, span_h), pitch_w = min(1, span_w);
  // As many planes are kept as the steps on their way meet.
  const int window = TH * TW, slots = (STEP * STAGES - 1) / max(window, 1) + 2;
  const int depth = n8 * TD * window, positions = B * QD * QH * STRIP;
  const int strips = ((n5 + 1) / 2 + 31) / 32, start = blockIdx.x / strips * TILE_P, column = blockIdx.x % strips * STRIP;
  if (start >= positions || column >= QW) return;
  const int o_start = blockIdx.y * TILE_O;
  // The rows of all samples that such a strip needs lie one below the other.
  const int height = (QH - 1) * pitch_h + span_h;
  const auto row_of = [&](int position) { return position / STRIP / QH * height + position / STRIP % QH * pitch_h; };
  const int first_row = row_of(start), rows = row_of(min(start + TILE_P, positions) - 1) + span_h - first_row;
  // Packs of four are aligned where rows are.
  const bool packed = V % 4 == 0;
  const int left_column = column * 1 + add_w - (TW - 1) * 1, margin = packed ? left_column & 3 : 0;
  if (threadIdx.x < TILE_P) {
    const int position = start + threadIdx.x, line = position / STRIP, w = column + position % STRIP;
    places[threadIdx.x] = Position{position < positions && w < QW ? line / (QH * QD) : -1, line / QH % QD, line % QH * 2 + r_h, w * 2 + r_w};
    starts[threadIdx.x] = ((row_of(min(position, positions - 1)) - first_row) * LINE + margin + position % STRIP * pitch_w) * 4;
  }
  const int plane_floats = rows * LINE, line_packs = packed ? (STRIP * pitch_w - pitch_w + span_w + 6) / 4 : STRIP * pitch_w - pitch_w + span_w;
  const int elements = rows * line_packs;
  Element* table = reinterpret_cast<Element*>(ring + slots * plane_floats);
  for (int e = threadIdx.x; e < elements; e += 128) {
    const int row = (first_row + e / line_packs) % height, sample = (first_row + e / line_packs) / height, at = e % line_packs * (packed ? 4 : 1);
    const int h = row + add_h - (TH - 1) * 1, w = at + left_column - margin;
    const bool inside = sample < B * QD && unsigned(h) < unsigned(H) && unsigned(w) < unsigned(V);
    table[e] = Element{inside ? ((sample / QD * C + group * n8) * 1 * H + h) * V + w : -1, e / line_packs * LINE + at,
                       sample % QD * 1 + add_d};
  }
  __syncthreads();
  const float* kernel = S + size_t(blockIdx.z) * n9 * n15;
  const auto copy = [&](int step) {
    if (step * STEP < depth) {
      float* left = tiles + step % STAGES * LEFT;
      if (n15 % 4 == 0) {
#pragma unroll 4
        for (int line = threadIdx.x / (STEP / 4); line < TILE_O; line += 128 / (STEP / 4)) {
          const int k = threadIdx.x % (STEP / 4) * 4;
          const bool inside = o_start + line < n9 && step * STEP + k < depth;
          copy_async<16>(left + line * (STEP + 4) + k, inside ? kernel + (o_start + line) * n15 + step * STEP + k : kernel, inside);
        }
      } else {
        const int k = step * STEP + threadIdx.x % STEP;
#pragma unroll 4
        for (int line = threadIdx.x / STEP; line < TILE_O; line += 128 / STEP) {
          const bool inside = o_start + line < n9 && k < depth;
          copy_async<4>(left + line * (STEP + 4) + threadIdx.x % STEP, inside ? kernel + (o_start + line) * n15 + k : kernel, inside);
        }
      }
      const int planes = (min(step * STEP + STEP, depth) + window - 1) / window;
      for (int plane = (step * STEP + window - 1) / window + threadIdx.x / LANES; plane < planes; plane += 128 / LANES) {
        float* to = ring + plane % slots * plane_floats;
        const float* from = X + size_t(plane / TD) * n14;
        for (int e = threadIdx.x % LANES; e < elements; e += LANES) {
          const Element at = table[e];
          const bool inside = at.from >= 0;
          const float* x = inside ? from + at.from : from;
          if (packed) copy_async<16>(to + at.to, x, inside);
          else copy_async<4>(to + at.to, x, inside);
        }
      }
    }
    asm volatile("cp.async.commit_group;");
  };
  // Where the inputs of a step's depths stand, [bytes]. Depths beyond the last one meet weights of zero.
  const auto tabulate = [&](int step) {
    if (threadIdx.x >= STEP) return;
    const int k = min(step * STEP + int(threadIdx.x), depth - 1), h = k % window / TW, w = k % TW;
    shifts[step % 2 * STEP + threadIdx.x] = (k / window % slots * plane_floats + (TH - 1 - h) * 1 * LINE + (TW - 1 - w) * 1) * 4;
  };
  for (int step = 0; step < STAGES - 1; ++step) copy(step);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int own[TILE_P / 16];
#pragma unroll
  for (int i = 0; i < TILE_P / 16; ++i) own[i] = starts[warp % 2 * (TILE_P / 2) + i * 8 + lane / 4];
  if (depth > 0) tabulate(0);
  float sum[TILE_O / 32][TILE_P / 16][4] = {};
  for (int step = 0; step * STEP < depth; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
    __syncthreads();
    copy(step + STAGES - 1);
    tabulate(step + 1);
    multiply_fragments<true, TILE_O, TILE_P, STEP>(sum, tiles + step % STAGES * LEFT, [&](int j, int k, unsigned (&high)[4], unsigned (&low)[4]) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int at = own[j * 2 + i % 2] + shifts[step % 2 * STEP + k + lane % 4 + i / 2 * 4];
        halves(*reinterpret_cast<const float*>(reinterpret_cast<const char*>(ring) + at), high[i], low[i]);
      }
    });
  }
#pragma unroll
  for (int j = 0; j < TILE_P / 8; ++j) {
    const Position at = places[warp % 2 * (TILE_P / 2) + j / 2 * 8 + lane % 4 * 2 + j % 2];
    if (at.b < 0) continue;
    const int at_b = at.b, at_d = at.d, at_h = at.h, at_w = at.w;
#pragma unroll
    for (int i = 0; i < TILE_O / 16; ++i) {
      const int o = o_start + warp / 2 * (TILE_O / 2) + i * 8 + lane / 4;
      if (o >= n9) continue;
      const int at_o = group * n9 + o;
      const float produced = sum[i / 2][j / 2][i % 2 * 2 + j % 2];
      const float v1 = float(bias[at_o]);
      const float v2 = produced + v1;
      const float v3 = v2 < 0 ? 0 : v2;
      Y[size_t(at_b) * n11 + size_t(at_o) * n12 + size_t(at_h) * n5 + at_w] = v3;
    }
  }
}
