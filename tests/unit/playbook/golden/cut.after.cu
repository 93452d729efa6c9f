//@ of      cut.before.cu sha256:64918071767804bdb248234b519578dbd1692393641743ffcee9637cc9432342
//@ tune    ITEMS = 4 | 2 | 8
//@ tune    THREADS = 256 | 128 | 512
//@ tune    THREADS_2 = 256
//@ scratch S: float32[N, M]
//@ launch  pointwise<<<ceil_div(N * M, ITEMS * THREADS * 4), THREADS>>>(X, S, N * M)
//@ launch  rows<<<ceil_div(N, max(1, 256 / THREADS_2)), dim3(THREADS_2, max(1, 256 / THREADS_2))>>>(S, Z, Y, M, N)
// playbook: as written/fused, cut after gelu

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

template <bool WHOLE>
__device__ __forceinline__ void pointwise_body(const float* __restrict__ X, float* __restrict__ S, int n2) {
  constexpr int VEC = 4;
  constexpr int TILE = ITEMS * THREADS * VEC;
  const int start = int(blockIdx.x) * TILE + int(threadIdx.x) * VEC;
  const float* X_0_line = X;
  float* out0_line = S;
  Pack<float, VEC> X_0_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS * VEC;
    X_0_kept[item] = load<WHOLE, VEC>(X_0_line + column, n2 - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS * VEC;
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_kept[item].at[i];
      const float v1 = decltype(v0)(0.5) * v0 * (1 + erf(v0 * decltype(v0)(0.70710678118654752)));
      out0.at[i] = v1;
    }
    store<WHOLE, VEC>(out0_line + column, out0, n2 - column);
  }
}

__global__ void __launch_bounds__(THREADS) pointwise(const float* __restrict__ X, float* __restrict__ S, int n2) {
  if (n2 % 4 == 0) pointwise_body<true>(X, S, n2);
  else pointwise_body<false>(X, S, n2);
}

template <bool WHOLE>
__device__ __forceinline__ void rows_body(const float* __restrict__ S, const float* __restrict__ Z, float* __restrict__ Y, int M, int N) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS_2 < 256 ? 256 / THREADS_2 : 1;
  constexpr int ITEMS = (4096 + THREADS_2 * VEC - 1) / (THREADS_2 * VEC);
  const int first = int(blockIdx.x) * ROWS + threadIdx.y;
  const bool live = first < N;
  const int line = live ? first : N - 1;  // idle threads keep the barriers whole
  const float* S_0_line = S + size_t(line) * M;
  const float* Z_1_line = Z + size_t(line) * M;
  float acc3 = __int_as_float(0xff800000);
  Pack<float, VEC> S_0_kept[ITEMS];
  Pack<float, VEC> Z_1_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_2 + int(threadIdx.x)) * VEC;
    S_0_kept[item] = load<WHOLE, VEC>(S_0_line + column, M - column);
    Z_1_kept[item] = load<WHOLE, VEC>(Z_1_line + column, M - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_2 + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = S_0_kept[item].at[i];
      const float v1 = Z_1_kept[item].at[i];
      const float v2 = v0 + v1;
      if (column + (WHOLE ? 0 : i) < M) {
        acc3 = Larger()(acc3, float(v2));
      }
    }
  }
  for (int column = (ITEMS * THREADS_2 + int(threadIdx.x)) * VEC; column < M; column += THREADS_2 * VEC) {
    Pack<float, VEC> S_0_pack = {};
    S_0_pack = load<WHOLE, VEC>(S_0_line + column, M - column);
    Pack<float, VEC> Z_1_pack = {};
    Z_1_pack = load<WHOLE, VEC>(Z_1_line + column, M - column);
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = S_0_pack.at[i];
      const float v1 = Z_1_pack.at[i];
      const float v2 = v0 + v1;
      if (column + (WHOLE ? 0 : i) < M) {
        acc3 = Larger()(acc3, float(v2));
      }
    }
  }
  const float v3 = reduce_row<THREADS_2, ROWS>(acc3, Larger());
  float acc6 = 0;
  Pack<float, VEC> k5[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_2 + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = S_0_kept[item].at[i];
      const float v1 = Z_1_kept[item].at[i];
      const float v2 = v0 + v1;
      const float v4 = v2 - v3;
      const float v5 = exp(v4);
      k5[item].at[i] = v5;
      if (column + (WHOLE ? 0 : i) < M) {
        acc6 += v5;
      }
    }
  }
  for (int column = (ITEMS * THREADS_2 + int(threadIdx.x)) * VEC; column < M; column += THREADS_2 * VEC) {
    Pack<float, VEC> S_0_pack = {};
    S_0_pack = load<WHOLE, VEC>(S_0_line + column, M - column);
    Pack<float, VEC> Z_1_pack = {};
    Z_1_pack = load<WHOLE, VEC>(Z_1_line + column, M - column);
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = S_0_pack.at[i];
      const float v1 = Z_1_pack.at[i];
      const float v2 = v0 + v1;
      const float v4 = v2 - v3;
      const float v5 = exp(v4);
      if (column + (WHOLE ? 0 : i) < M) {
        acc6 += v5;
      }
    }
  }
  const float v6 = reduce_row<THREADS_2, ROWS>(acc6, Sum());
  const float v7 = 1 / v6;
  float* out0_line = Y + size_t(line) * M;
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_2 + int(threadIdx.x)) * VEC;
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v5 = k5[item].at[i];
      const float v8 = v5 * v7;
      out0.at[i] = v8;
    }
    if (live) store<WHOLE, VEC>(out0_line + column, out0, M - column);
  }
  for (int column = (ITEMS * THREADS_2 + int(threadIdx.x)) * VEC; column < M; column += THREADS_2 * VEC) {
    Pack<float, VEC> S_0_pack = {};
    S_0_pack = load<WHOLE, VEC>(S_0_line + column, M - column);
    Pack<float, VEC> Z_1_pack = {};
    Z_1_pack = load<WHOLE, VEC>(Z_1_line + column, M - column);
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = S_0_pack.at[i];
      const float v1 = Z_1_pack.at[i];
      const float v2 = v0 + v1;
      const float v4 = v2 - v3;
      const float v5 = exp(v4);
      const float v8 = v5 * v7;
      out0.at[i] = v8;
    }
    if (live) store<WHOLE, VEC>(out0_line + column, out0, M - column);
  }
}

__global__ void __launch_bounds__((THREADS_2 < 256 ? 256 : THREADS_2)) rows(const float* __restrict__ S, const float* __restrict__ Z, float* __restrict__ Y, int M, int N) {
  if (M % 4 == 0) rows_body<true>(S, Z, Y, M, N);
  else rows_body<false>(S, Z, Y, M, N);
}
