//@ of      masked_softmax.before.cu sha256:c806b94f0bdfeda82f5be9fdc3ac7a14527b6b55dcbdec2f0bce1f5e22de0d31
//@ tune    THREADS = 256 | 128 | 64
//@ launch  rows<<<ceil_div(N, max(1, 256 / THREADS)), dim3(THREADS, max(1, 256 / THREADS))>>>(K, X, Y, M, N)
// playbook: as written/fused

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
__device__ __forceinline__ void rows_body(const bool* __restrict__ K, const float* __restrict__ X, float* __restrict__ Y, int M, int N) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS < 256 ? 256 / THREADS : 1;
  constexpr int ITEMS = (1024 + THREADS * VEC - 1) / (THREADS * VEC);
  const int first = int(blockIdx.x) * ROWS + threadIdx.y;
  const bool live = first < N;
  const int line = live ? first : N - 1;  // idle threads keep the barriers whole
  const bool* K_0_line = K + size_t(line) * M;
  const float* X_2_line = X + size_t(line) * M;
  float acc4 = __int_as_float(0xff800000);
  Pack<bool, VEC> K_0_kept[ITEMS];
  Pack<float, VEC> X_2_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    K_0_kept[item] = load<WHOLE, VEC>(K_0_line + column, M - column);
    X_2_kept[item] = load<WHOLE, VEC>(X_2_line + column, M - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const bool v0 = K_0_kept[item].at[i];
      const float v2 = X_2_kept[item].at[i];
      const float v3 = v0 ? float(float(__int_as_float(0xff800000))) : v2;
      if (column + (WHOLE ? 0 : i) < M) {
        acc4 = Larger()(acc4, float(v3));
      }
    }
  }
  for (int column = (ITEMS * THREADS + int(threadIdx.x)) * VEC; column < M; column += THREADS * VEC) {
    Pack<bool, VEC> K_0_pack = {};
    K_0_pack = load<WHOLE, VEC>(K_0_line + column, M - column);
    Pack<float, VEC> X_2_pack = {};
    X_2_pack = load<WHOLE, VEC>(X_2_line + column, M - column);
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const bool v0 = K_0_pack.at[i];
      const float v2 = X_2_pack.at[i];
      const float v3 = v0 ? float(float(__int_as_float(0xff800000))) : v2;
      if (column + (WHOLE ? 0 : i) < M) {
        acc4 = Larger()(acc4, float(v3));
      }
    }
  }
  const float v4 = reduce_row<THREADS, ROWS>(acc4, Larger());
  float acc7 = 0;
  Pack<float, VEC> k6[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const bool v0 = K_0_kept[item].at[i];
      const float v2 = X_2_kept[item].at[i];
      const float v3 = v0 ? float(float(__int_as_float(0xff800000))) : v2;
      const float v5 = v3 - v4;
      const float v6 = exp(v5);
      k6[item].at[i] = v6;
      if (column + (WHOLE ? 0 : i) < M) {
        acc7 += v6;
      }
    }
  }
  for (int column = (ITEMS * THREADS + int(threadIdx.x)) * VEC; column < M; column += THREADS * VEC) {
    Pack<bool, VEC> K_0_pack = {};
    K_0_pack = load<WHOLE, VEC>(K_0_line + column, M - column);
    Pack<float, VEC> X_2_pack = {};
    X_2_pack = load<WHOLE, VEC>(X_2_line + column, M - column);
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const bool v0 = K_0_pack.at[i];
      const float v2 = X_2_pack.at[i];
      const float v3 = v0 ? float(float(__int_as_float(0xff800000))) : v2;
      const float v5 = v3 - v4;
      const float v6 = exp(v5);
      if (column + (WHOLE ? 0 : i) < M) {
        acc7 += v6;
      }
    }
  }
  const float v7 = reduce_row<THREADS, ROWS>(acc7, Sum());
  const float v8 = 1 / v7;
  float* out0_line = Y + size_t(line) * M;
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v6 = k6[item].at[i];
      const float v9 = v6 * v8;
      out0.at[i] = v9;
    }
    if (live) store<WHOLE, VEC>(out0_line + column, out0, M - column);
  }
  for (int column = (ITEMS * THREADS + int(threadIdx.x)) * VEC; column < M; column += THREADS * VEC) {
    Pack<bool, VEC> K_0_pack = {};
    K_0_pack = load<WHOLE, VEC>(K_0_line + column, M - column);
    Pack<float, VEC> X_2_pack = {};
    X_2_pack = load<WHOLE, VEC>(X_2_line + column, M - column);
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const bool v0 = K_0_pack.at[i];
      const float v2 = X_2_pack.at[i];
      const float v3 = v0 ? float(float(__int_as_float(0xff800000))) : v2;
      const float v5 = v3 - v4;
      const float v6 = exp(v5);
      const float v9 = v6 * v8;
      out0.at[i] = v9;
    }
    if (live) store<WHOLE, VEC>(out0_line + column, out0, M - column);
  }
}

__global__ void __launch_bounds__((THREADS < 256 ? 256 : THREADS)) rows(const bool* __restrict__ K, const float* __restrict__ X, float* __restrict__ Y, int M, int N) {
  if (M % 4 == 0) rows_body<true>(K, X, Y, M, N);
  else rows_body<false>(K, X, Y, M, N);
}
