//@ of      window_sums.before.cu sha256:5d4116ea23adfa963a2e095ffc785b02c3e46716d7137996f9c41a2c5ad32520
//@ tune    THREADS = 32
//@ scratch S: float32[B, C, 3, 3]
//@ launch  window_sums<<<B * C, 256>>>(X, S, H, V)
//@ launch  rows<<<ceil_div(B * 16, max(1, 256 / THREADS)), dim3(THREADS, max(1, 256 / THREADS))>>>(S, W, Y, C * (3 * 3), B * 16, B, H * V)
// playbook: linear sums/fused

template <typename T, int VEC>
struct alignas(sizeof(T) * VEC) Pack {
  T at[VEC];
};

// VEC elements of which `left` exist. WHOLE: all or none do, and `from` is aligned to all of them.
template <bool WHOLE, int VEC, typename T, typename Index>
__device__ __forceinline__ Pack<T, VEC> load(const T* from, Index left) {
  Pack<T, VEC> pack = {};
  if (WHOLE) {
    if (left > 0) pack = *reinterpret_cast<const Pack<T, VEC>*>(from);
  } else {
#pragma unroll
    for (int i = 0; i < VEC; ++i)
      if (i < left) pack.at[i] = from[i];
  }
  return pack;
}

template <bool WHOLE, int VEC, typename T, typename Index>
__device__ __forceinline__ void store(T* to, const Pack<T, VEC>& pack, Index left) {
  if (WHOLE) {
    if (left > 0) *reinterpret_cast<Pack<T, VEC>*>(to) = pack;
  } else {
#pragma unroll
    for (int i = 0; i < VEC; ++i)
      if (i < left) to[i] = pack.at[i];
  }
}

template <typename T>
__device__ __forceinline__ T exchange(T value, int offset) {
  return __shfl_xor_sync(0xffffffffu, value, offset);
}

struct Sum {
  template <typename T> __device__ T operator()(T a, T b) const { return a + b; }
};
struct Product {
  template <typename T> __device__ T operator()(T a, T b) const { return a * b; }
};
// Of a NaN and a number the NaN wins, as in torch.
struct Larger {
  template <typename T> __device__ T operator()(T a, T b) const { return a > b || a != a ? a : b; }
};
struct Smaller {
  template <typename T> __device__ T operator()(T a, T b) const { return a < b || a != a ? a : b; }
};

// The values of one row's THREADS threads, combined; every thread gets the result.
template <int THREADS, int ROWS, typename T, typename Combine>
__device__ T reduce_row(T value, Combine combine) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value = combine(value, exchange(value, offset));
  if constexpr (THREADS > 32) {
    __shared__ T partial[ROWS][THREADS / 32];
    __syncthreads();
    if (threadIdx.x % 32 == 0) partial[threadIdx.y][threadIdx.x / 32] = value;
    __syncthreads();
    value = partial[threadIdx.y][0];
#pragma unroll
    for (int warp = 1; warp < THREADS / 32; ++warp) value = combine(value, partial[threadIdx.y][warp]);
  }
  return value;
}

__device__ __forceinline__ bool window_sums_meets_d(int i, int tap, int results) {
  const int result = i * 1 - 0 + tap * 1;
  return result >= 0 && result < results;
}
__device__ __forceinline__ bool window_sums_meets_h(int i, int tap, int results) {
  const int result = i + 1 - tap * 1;
  return result >= 0 && result % 1 == 0 && result / 1 < results;
}
__device__ __forceinline__ bool window_sums_meets_w(int i, int tap, int results) {
  const int result = i + 1 - tap * 1;
  return result >= 0 && result % 1 == 0 && result / 1 < results;
}
template <bool WHOLE>
__device__ __forceinline__ void window_sums_body(const float* __restrict__ X, float* __restrict__ S, int H, int V) {
  constexpr int KD = 1, KH = 3, KW = 3, WARPS = 8, SEGMENT = 512, VEC = 4;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, plane = H * V;
  const int segments = (plane + SEGMENT - 1) / SEGMENT;
  const float* x = X + size_t(blockIdx.x) * 1 * plane;
  float sum[KD][KH][KW] = {};
  for (int unit = warp; unit < 1 * segments; unit += WARPS) {
    const int d = unit / segments, from = unit % segments * SEGMENT;
    float here[KH][KW] = {};
#pragma unroll
    for (int step = 0; step < SEGMENT; step += 32 * VEC) {
      const int at = from + step + lane * VEC;
      const Pack<float, VEC> values = load<WHOLE, VEC>(x + size_t(d) * plane + at, plane - at);
      if (WHOLE) {
        // A row is a multiple of VEC long, so these share it.
        const int h = at / V, w = at - h * V;
        float row[KW] = {};
#pragma unroll
        for (int i = 0; i < VEC; ++i)
#pragma unroll
          for (int c = 0; c < KW; ++c) row[c] += window_sums_meets_w(w + i, c, V) ? values.at[i] : 0.0f;
#pragma unroll
        for (int b = 0; b < KH; ++b)
          if (window_sums_meets_h(h, b, H))
#pragma unroll
            for (int c = 0; c < KW; ++c) here[b][c] += row[c];
      } else {
#pragma unroll
        for (int i = 0; i < VEC; ++i) {
          const int h = (at + i) / V, w = (at + i) - h * V;
#pragma unroll
          for (int b = 0; b < KH; ++b)
#pragma unroll
            for (int c = 0; c < KW; ++c)
              here[b][c] += window_sums_meets_h(h, b, H) && window_sums_meets_w(w, c, V) ? values.at[i] : 0.0f;
        }
      }
    }
#pragma unroll
    for (int a = 0; a < KD; ++a)
      if (window_sums_meets_d(d, a, 1))
#pragma unroll
        for (int b = 0; b < KH; ++b)
#pragma unroll
          for (int c = 0; c < KW; ++c) sum[a][b][c] += here[b][c];
  }
  __shared__ float partial[WARPS][KD * KH * KW];
#pragma unroll
  for (int a = 0; a < KD; ++a)
#pragma unroll
    for (int b = 0; b < KH; ++b)
#pragma unroll
      for (int c = 0; c < KW; ++c) {
        float value = sum[a][b][c];
#pragma unroll
        for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
        if (lane == 0) partial[warp][(a * KH + b) * KW + c] = value;
      }
  __syncthreads();
  for (int tap = threadIdx.x; tap < KD * KH * KW; tap += 256) {
    float value = 0;
    for (int other = 0; other < WARPS; ++other) value += partial[other][tap];
    S[size_t(blockIdx.x) * (KD * KH * KW) + tap] = value;
  }
}

__global__ void __launch_bounds__(256) window_sums(const float* __restrict__ X, float* __restrict__ S, int H, int V) {
  if (V % 4 == 0) window_sums_body<true>(X, S, H, V);
  else window_sums_body<false>(X, S, H, V);
}

template <bool WHOLE>
__device__ __forceinline__ void rows_body(const float* __restrict__ S, const float* __restrict__ W, float* __restrict__ Y, int n3, int n4, int B, int n6) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS < 256 ? 256 / THREADS : 1;
  constexpr int ITEMS = (72 + THREADS * VEC - 1) / (THREADS * VEC);
  const int first = int(blockIdx.x) * ROWS + threadIdx.y;
  const bool live = first < n4;
  const int line = live ? first : n4 - 1;  // idle threads keep the barriers whole
  const int at1 = line % 16;
  const int at0 = line / 16;
  const float* S_0_line = S + size_t(at0) * n3;
  const float* W_1_line = W + size_t(at1) * n3;
  float acc3 = 0;
  Pack<float, VEC> S_0_kept[ITEMS];
  Pack<float, VEC> W_1_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    S_0_kept[item] = load<WHOLE, VEC>(S_0_line + column, n3 - column);
    W_1_kept[item] = load<WHOLE, VEC>(W_1_line + column, n3 - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = S_0_kept[item].at[i];
      const float v1 = W_1_kept[item].at[i];
      const float v2 = v0 * v1;
      if (column + (WHOLE ? 0 : i) < n3) {
        acc3 += v2;
      }
    }
  }
  for (int column = (ITEMS * THREADS + int(threadIdx.x)) * VEC; column < n3; column += THREADS * VEC) {
    Pack<float, VEC> S_0_pack = {};
    S_0_pack = load<WHOLE, VEC>(S_0_line + column, n3 - column);
    Pack<float, VEC> W_1_pack = {};
    W_1_pack = load<WHOLE, VEC>(W_1_line + column, n3 - column);
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = S_0_pack.at[i];
      const float v1 = W_1_pack.at[i];
      const float v2 = v0 * v1;
      if (column + (WHOLE ? 0 : i) < n3) {
        acc3 += v2;
      }
    }
  }
  const float v3 = reduce_row<THREADS, ROWS>(acc3, Sum());
  const float v5 = v3 / float(float(n6));
  if (live && threadIdx.x == 0) Y[size_t(at0) * 16 + at1] = v5;
}

__global__ void __launch_bounds__((THREADS < 256 ? 256 : THREADS)) rows(const float* __restrict__ S, const float* __restrict__ W, float* __restrict__ Y, int n3, int n4, int B, int n6) {
  if (n3 % 4 == 0) rows_body<true>(S, W, Y, n3, n4, B, n6);
  else rows_body<false>(S, W, Y, n3, n4, B, n6);
}
