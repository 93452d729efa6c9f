//@ of      summed_channels.before.cu sha256:ec618afd391fcfe3d5a4479bff0148b73961ce07ffb818f11e99ff93d2dfd626
//@ tune    THREADS = 32 | 16 | 8
//@ tune    THREADS_2 = 32
//@ tune    THREADS_3 = 256
//@ scratch S: float32[1, C, 3, 3]
//@ scratch S_2: float32[1, 1, 1]
//@ launch  columns<<<ceil_div(C * (3 * 3), 32), dim3(32, THREADS)>>>(W, S, O, C * (3 * 3))
//@ launch  rows<<<ceil_div(1, max(1, 256 / THREADS_2)), dim3(THREADS_2, max(1, 256 / THREADS_2))>>>(B, S_2, O)
//@ launch  direct_convolution<<<ceil_div((N * (H - 2)) * (V - 2), THREADS_3), THREADS_3>>>(X, S, S_2, Y, (N * (H - 2)) * (V - 2), V - 2, H - 2, N, H * V, H, V, C, (H - 2) * (V - 2))
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

// The values of one column's THREADS threads (threadIdx.y), combined; every thread gets the result.
template <int THREADS, int LINES, typename T, typename Combine>
__device__ T reduce_column(T value, Combine combine) {
  if constexpr (THREADS > 1) {
    __shared__ T partial[THREADS][LINES];
    __syncthreads();
    partial[threadIdx.y][threadIdx.x] = value;
    __syncthreads();
    value = partial[0][threadIdx.x];
    for (int other = 1; other < THREADS; ++other) value = combine(value, partial[other][threadIdx.x]);
  }
  return value;
}

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

__global__ void __launch_bounds__(32 * THREADS) columns(const float* __restrict__ W, float* __restrict__ S, int O, int n3) {
  const int first = int(blockIdx.x) * 32 + threadIdx.x;
  const bool live = first < n3;
  const int line = live ? first : n3 - 1;  // idle threads keep the barriers whole
  const float* W_0_line = W + line;
  float acc1 = 0;
  #pragma unroll 4
  for (int column = threadIdx.y; column < O; column += THREADS) {
    const float v0 = W_0_line[size_t(column) * n3];
    acc1 += v0;
  }
  const float v1 = reduce_column<THREADS, 32>(acc1, Sum());
  if (live && threadIdx.y == 0) S[line] = v1;
}

template <bool WHOLE>
__device__ __forceinline__ void rows_body(const float* __restrict__ B, float* __restrict__ S_2, int O) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS_2 < 256 ? 256 / THREADS_2 : 1;
  constexpr int ITEMS = (64 + THREADS_2 * VEC - 1) / (THREADS_2 * VEC);
  const bool live = blockIdx.x * ROWS + threadIdx.y == 0;
  const float* B_0_line = B;
  float acc1 = 0;
  Pack<float, VEC> B_0_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_2 + int(threadIdx.x)) * VEC;
    B_0_kept[item] = load<WHOLE, VEC>(B_0_line + column, O - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_2 + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = B_0_kept[item].at[i];
      if (column + (WHOLE ? 0 : i) < O) {
        acc1 += v0;
      }
    }
  }
  for (int column = (ITEMS * THREADS_2 + int(threadIdx.x)) * VEC; column < O; column += THREADS_2 * VEC) {
    Pack<float, VEC> B_0_pack = {};
    B_0_pack = load<WHOLE, VEC>(B_0_line + column, O - column);
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = B_0_pack.at[i];
      if (column + (WHOLE ? 0 : i) < O) {
        acc1 += v0;
      }
    }
  }
  const float v1 = reduce_row<THREADS_2, ROWS>(acc1, Sum());
  if (live && threadIdx.x == 0) S_2[0] = v1;
}

__global__ void __launch_bounds__((THREADS_2 < 256 ? 256 : THREADS_2)) rows(const float* __restrict__ B, float* __restrict__ S_2, int O) {
  if (O % 4 == 0) rows_body<true>(B, S_2, O);
  else rows_body<false>(B, S_2, O);
}

__global__ void __launch_bounds__(THREADS_3) direct_convolution(const float* __restrict__ X, const float* __restrict__ S, const float* __restrict__ S_2, float* __restrict__ Y, int n4, int n5, int n6, int N, int n8, int H, int V, int C, int n12) {
  const int index = int(blockIdx.x) * THREADS_3 + threadIdx.x;
  if (index >= n4) return;
  const int at3 = index % n5;
  const int at2 = index / n5 % n6;
  const int at0 = index / n5 / n6;
  const int group = 0;
  const float* x = X + (size_t(at0) * C + group * C) * n8;
  const float* weights = S + size_t(0) * C * 9;
  float produced = 0;
  for (int channel = 0; channel < C; ++channel, x += n8, weights += 9) {
#pragma unroll
    for (int b = 0; b < 3; ++b) {
      const int h = at2 + b;
      if (h >= H) continue;
#pragma unroll
      for (int c = 0; c < 3; ++c) {
        const int w = at3 + c;
        if (w >= V) continue;
        produced += x[(h) * V + w] * weights[(b) * 3 + c];
      }
    }
  }
  const float v1 = float(S_2[0]);
  const float v2 = produced + v1;
  Y[size_t(at0) * n12 + size_t(at2) * n5 + at3] = v2;
}
