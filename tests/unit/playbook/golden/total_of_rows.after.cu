//@ of      total_of_rows.before.cu sha256:7d4b31fe0941ab47573ced28b60e90a1b83ad896a19c613f90feee552656a871
//@ tune    THREADS = 32 | 64 | 128
//@ tune    BLOCKS = 4224 | 1056 | 528
//@ tune    THREADS_2 = 256
//@ scratch S: float32[BLOCKS, 1, 1]
//@ scratch S_2: float32[BLOCKS, 1, 1]
//@ launch  rows<<<BLOCKS, dim3(THREADS, max(1, 256 / THREADS))>>>(T, X, S, S_2, C, N)
//@ launch  rows_2<<<ceil_div(1, max(1, 256 / THREADS_2)), dim3(THREADS_2, max(1, 256 / THREADS_2))>>>(S, S_2, Y, BLOCKS)
// playbook: as written/totals

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

// What a block's ROWS rows have found, combined in their order; every thread gets the result.
template <int ROWS, typename T, typename Combine>
__device__ T reduce_rows(T value, Combine combine) {
  if constexpr (ROWS > 1) {
    __shared__ T of_row[ROWS];
    __syncthreads();
    if (threadIdx.x == 0) of_row[threadIdx.y] = value;
    __syncthreads();
    value = of_row[0];
#pragma unroll
    for (int row = 1; row < ROWS; ++row) value = combine(value, of_row[row]);
  }
  return value;
}

template <bool WHOLE>
__device__ __forceinline__ void rows_body(const long long* __restrict__ T, const float* __restrict__ X, float* __restrict__ S, float* __restrict__ S_2, int C, int N) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS < 256 ? 256 / THREADS : 1;
  constexpr int ITEMS = (1000 + THREADS * VEC - 1) / (THREADS * VEC);
  float total0 = 0;
  float total1 = 0;
  for (int base = int(blockIdx.x) * ROWS; base < N; base += BLOCKS * ROWS) {
    const int first = base + threadIdx.y;
    const bool live = first < N;
    const int line = live ? first : N - 1;  // idle threads keep the barriers whole
    const long long T_0 = static_cast<long long>(T[line]);
    const float* X_5_line = X + size_t(line) * C;
    const bool v2 = T_0 != (-100);
    const float v19 = v2 ? 1.0f : 0.0f;
    float acc10 = __int_as_float(0xff800000);
    Pack<float, VEC> X_5_kept[ITEMS];
    #pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
      const int column = (item * THREADS + int(threadIdx.x)) * VEC;
      X_5_kept[item] = load<WHOLE, VEC>(X_5_line + column, C - column);
    }
    #pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
      const int column = (item * THREADS + int(threadIdx.x)) * VEC;
      #pragma unroll
      for (int i = 0; i < VEC; ++i) {
        const float v5 = X_5_kept[item].at[i];
        if (column + (WHOLE ? 0 : i) < C) {
          acc10 = Larger()(acc10, float(v5));
        }
      }
    }
    for (int column = (ITEMS * THREADS + int(threadIdx.x)) * VEC; column < C; column += THREADS * VEC) {
      Pack<float, VEC> X_5_pack = {};
      X_5_pack = load<WHOLE, VEC>(X_5_line + column, C - column);
      #pragma unroll
      for (int i = 0; i < VEC; ++i) {
        const float v5 = X_5_pack.at[i];
        if (column + (WHOLE ? 0 : i) < C) {
          acc10 = Larger()(acc10, float(v5));
        }
      }
    }
    const float v10 = reduce_row<THREADS, ROWS>(acc10, Larger());
    const float X_8 = T_0 >= 0 && T_0 < C ? float(X[T_0 + size_t(line) * C]) : float(0);
    const float v9 = -X_8;
    float acc13 = 0;
    #pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
      const int column = (item * THREADS + int(threadIdx.x)) * VEC;
      #pragma unroll
      for (int i = 0; i < VEC; ++i) {
        const float v5 = X_5_kept[item].at[i];
        const float v11 = v5 - v10;
        const float v12 = exp(v11);
        if (column + (WHOLE ? 0 : i) < C) {
          acc13 += v12;
        }
      }
    }
    for (int column = (ITEMS * THREADS + int(threadIdx.x)) * VEC; column < C; column += THREADS * VEC) {
      Pack<float, VEC> X_5_pack = {};
      X_5_pack = load<WHOLE, VEC>(X_5_line + column, C - column);
      #pragma unroll
      for (int i = 0; i < VEC; ++i) {
        const float v5 = X_5_pack.at[i];
        const float v11 = v5 - v10;
        const float v12 = exp(v11);
        if (column + (WHOLE ? 0 : i) < C) {
          acc13 += v12;
        }
      }
    }
    const float v13 = reduce_row<THREADS, ROWS>(acc13, Sum());
    const float v14 = log(v13);
    const float v15 = v14 + v10;
    const float v16 = v9 + v15;
    const float v17 = v2 ? v16 : 0.0f;
    if (live) {
      total0 = Sum()(total0, float(v17));
      total1 = Sum()(total1, float(v19));
    }
  }
  const float part0 = reduce_rows<ROWS>(total0, Sum());
  if (threadIdx.x == 0 && threadIdx.y == 0) S[blockIdx.x] = part0;
  const float part1 = reduce_rows<ROWS>(total1, Sum());
  if (threadIdx.x == 0 && threadIdx.y == 0) S_2[blockIdx.x] = part1;
}

__global__ void __launch_bounds__((THREADS < 256 ? 256 : THREADS)) rows(const long long* __restrict__ T, const float* __restrict__ X, float* __restrict__ S, float* __restrict__ S_2, int C, int N) {
  if (C % 4 == 0) rows_body<true>(T, X, S, S_2, C, N);
  else rows_body<false>(T, X, S, S_2, C, N);
}

template <bool WHOLE>
__device__ __forceinline__ void rows_2_body(const float* __restrict__ S, const float* __restrict__ S_2, float* __restrict__ Y, int BLOCKS) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS_2 < 256 ? 256 / THREADS_2 : 1;
  constexpr int ITEMS = (4224 + THREADS_2 * VEC - 1) / (THREADS_2 * VEC);
  const bool live = blockIdx.x * ROWS + threadIdx.y == 0;
  const float* S_0_line = S;
  const float* S_2_2_line = S_2;
  float acc1 = 0;
  float acc3 = 0;
  Pack<float, VEC> S_0_kept[ITEMS];
  Pack<float, VEC> S_2_2_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_2 + int(threadIdx.x)) * VEC;
    S_0_kept[item] = load<WHOLE, VEC>(S_0_line + column, BLOCKS - column);
    S_2_2_kept[item] = load<WHOLE, VEC>(S_2_2_line + column, BLOCKS - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_2 + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = S_0_kept[item].at[i];
      const float v2 = S_2_2_kept[item].at[i];
      if (column + (WHOLE ? 0 : i) < BLOCKS) {
        acc1 += v0;
        acc3 += v2;
      }
    }
  }
  for (int column = (ITEMS * THREADS_2 + int(threadIdx.x)) * VEC; column < BLOCKS; column += THREADS_2 * VEC) {
    Pack<float, VEC> S_0_pack = {};
    S_0_pack = load<WHOLE, VEC>(S_0_line + column, BLOCKS - column);
    Pack<float, VEC> S_2_2_pack = {};
    S_2_2_pack = load<WHOLE, VEC>(S_2_2_line + column, BLOCKS - column);
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = S_0_pack.at[i];
      const float v2 = S_2_2_pack.at[i];
      if (column + (WHOLE ? 0 : i) < BLOCKS) {
        acc1 += v0;
        acc3 += v2;
      }
    }
  }
  const float v1 = reduce_row<THREADS_2, ROWS>(acc1, Sum());
  const float v3 = reduce_row<THREADS_2, ROWS>(acc3, Sum());
  const float v4 = v1 / v3;
  if (live && threadIdx.x == 0) Y[0] = v4;
}

__global__ void __launch_bounds__((THREADS_2 < 256 ? 256 : THREADS_2)) rows_2(const float* __restrict__ S, const float* __restrict__ S_2, float* __restrict__ Y, int BLOCKS) {
  if (BLOCKS % 4 == 0) rows_2_body<true>(S, S_2, Y, BLOCKS);
  else rows_2_body<false>(S, S_2, Y, BLOCKS);
}
