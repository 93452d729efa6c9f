//@ of      smoothed_loss.before.cu sha256:d3c52a8f3e5a51c035a657667cb3278049ebba454684c53c03d72cba2c1d5887
//@ tune    THREADS = 256 | 128 | 64
//@ tune    THREADS_2 = 256
//@ tune    THREADS_3 = 1024
//@ tune    THREADS_4 = 32
//@ scratch S: float32[N, 1]
//@ scratch S_2: float32[N, 1]
//@ scratch S_3: float32[4, 1, 1]
//@ scratch S_4: float32[4, 1, 1]
//@ launch  rows<<<ceil_div(N, max(1, 256 / THREADS)), dim3(THREADS, max(1, 256 / THREADS))>>>(T, X, W, S, C, N)
//@ launch  rows_2<<<ceil_div(N, max(1, 256 / THREADS_2)), dim3(THREADS_2, max(1, 256 / THREADS_2))>>>(T, W, S_2, C, N)
//@ launch  row_parts<<<dim3(ceil_div(1, max(1, 256 / THREADS_3)), 4), dim3(THREADS_3, max(1, 256 / THREADS_3))>>>(S, T, S_2, S_3, S_4, N)
//@ launch  rows_3<<<ceil_div(1, max(1, 256 / THREADS_4)), dim3(THREADS_4, max(1, 256 / THREADS_4))>>>(S_3, S_4, L)
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
__device__ __forceinline__ void rows_body(const long long* __restrict__ T, const float* __restrict__ X, const float* __restrict__ W, float* __restrict__ S, int C, int N) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS < 256 ? 256 / THREADS : 1;
  constexpr int ITEMS = (1024 + THREADS * VEC - 1) / (THREADS * VEC);
  const int first = int(blockIdx.x) * ROWS + threadIdx.y;
  const bool live = first < N;
  const int line = live ? first : N - 1;  // idle threads keep the barriers whole
  const long long T_0 = static_cast<long long>(T[line]);
  const float* X_5_line = X + size_t(line) * C;
  const float* W_17_line = W;
  const bool v2 = T_0 != (-100);
  const float v28 = 0.1f / float(float(C));
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
  const float W_19 = T_0 >= 0 && T_0 < C ? float(W[T_0]) : float(0);
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
  const float v20 = v16 * W_19;
  const float v22 = v20 * 0.9f;
  float acc25 = 0;
  Pack<float, VEC> W_17_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    W_17_kept[item] = load<WHOLE, VEC>(W_17_line + column, C - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v5 = X_5_kept[item].at[i];
      const float v23 = v15 - v5;
      const float v17 = W_17_kept[item].at[i];
      const float v24 = v23 * v17;
      if (column + (WHOLE ? 0 : i) < C) {
        acc25 += v24;
      }
    }
  }
  for (int column = (ITEMS * THREADS + int(threadIdx.x)) * VEC; column < C; column += THREADS * VEC) {
    Pack<float, VEC> X_5_pack = {};
    X_5_pack = load<WHOLE, VEC>(X_5_line + column, C - column);
    Pack<float, VEC> W_17_pack = {};
    W_17_pack = load<WHOLE, VEC>(W_17_line + column, C - column);
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v5 = X_5_pack.at[i];
      const float v23 = v15 - v5;
      const float v17 = W_17_pack.at[i];
      const float v24 = v23 * v17;
      if (column + (WHOLE ? 0 : i) < C) {
        acc25 += v24;
      }
    }
  }
  const float v25 = reduce_row<THREADS, ROWS>(acc25, Sum());
  const float v29 = v25 * v28;
  const float v30 = v22 + v29;
  const float v31 = v2 ? v30 : 0.0f;
  if (live && threadIdx.x == 0) S[line] = v31;
}

__global__ void __launch_bounds__((THREADS < 256 ? 256 : THREADS)) rows(const long long* __restrict__ T, const float* __restrict__ X, const float* __restrict__ W, float* __restrict__ S, int C, int N) {
  if (C % 4 == 0) rows_body<true>(T, X, W, S, C, N);
  else rows_body<false>(T, X, W, S, C, N);
}

template <bool WHOLE>
__device__ __forceinline__ void rows_2_body(const long long* __restrict__ T, const float* __restrict__ W, float* __restrict__ S_2, int C, int N) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS_2 < 256 ? 256 / THREADS_2 : 1;
  constexpr int ITEMS = (1024 + THREADS_2 * VEC - 1) / (THREADS_2 * VEC);
  const int first = int(blockIdx.x) * ROWS + threadIdx.y;
  const bool live = first < N;
  const int line = live ? first : N - 1;  // idle threads keep the barriers whole
  const long long T_1 = static_cast<long long>(T[line]);
  const float* W_3_line = W;
  const float W_6 = T_1 >= 0 && T_1 < C ? float(W[T_1]) : float(0);
  if (live && threadIdx.x == 0) S_2[line] = W_6;
}

__global__ void __launch_bounds__((THREADS_2 < 256 ? 256 : THREADS_2)) rows_2(const long long* __restrict__ T, const float* __restrict__ W, float* __restrict__ S_2, int C, int N) {
  if (C % 4 == 0) rows_2_body<true>(T, W, S_2, C, N);
  else rows_2_body<false>(T, W, S_2, C, N);
}

template <bool WHOLE>
__device__ __forceinline__ void row_parts_body(const float* __restrict__ S, const long long* __restrict__ T, const float* __restrict__ S_2, float* __restrict__ S_3, float* __restrict__ S_4, int N) {
  constexpr int VEC = 2;
  constexpr int ROWS = THREADS_3 < 256 ? 256 / THREADS_3 : 1;
  const bool live = blockIdx.x * ROWS + threadIdx.y == 0;
  const float* S_0_line = S;
  const long long* T_2_line = T;
  const float* S_2_5_line = S_2;
  float acc1 = 0;
  float acc8 = 0;
  #pragma unroll 4
  for (int column = (int(blockIdx.y) * THREADS_3 + int(threadIdx.x)) * VEC; column < N; column += int(gridDim.y) * THREADS_3 * VEC) {
    Pack<float, VEC> S_0_pack = {};
    S_0_pack = load<WHOLE, VEC>(S_0_line + column, N - column);
    Pack<long long, VEC> T_2_pack = {};
    T_2_pack = load<WHOLE, VEC>(T_2_line + column, N - column);
    Pack<float, VEC> S_2_5_pack = {};
    S_2_5_pack = load<WHOLE, VEC>(S_2_5_line + column, N - column);
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = S_0_pack.at[i];
      const long long v2 = T_2_pack.at[i];
      const bool v4 = v2 != (-100);
      const float v5 = S_2_5_pack.at[i];
      const float v7 = v4 ? v5 : 0.0f;
      if (column + (WHOLE ? 0 : i) < N) {
        acc1 += v0;
        acc8 += v7;
      }
    }
  }
  const float v1 = reduce_row<THREADS_3, ROWS>(acc1, Sum());
  const float v8 = reduce_row<THREADS_3, ROWS>(acc8, Sum());
  if (live && threadIdx.x == 0) S_3[size_t(blockIdx.y) * 1] = v1;
  if (live && threadIdx.x == 0) S_4[size_t(blockIdx.y) * 1] = v8;
}

__global__ void __launch_bounds__((THREADS_3 < 256 ? 256 : THREADS_3)) row_parts(const float* __restrict__ S, const long long* __restrict__ T, const float* __restrict__ S_2, float* __restrict__ S_3, float* __restrict__ S_4, int N) {
  if (N % 2 == 0) row_parts_body<true>(S, T, S_2, S_3, S_4, N);
  else row_parts_body<false>(S, T, S_2, S_3, S_4, N);
}

template <bool WHOLE>
__device__ __forceinline__ void rows_3_body(const float* __restrict__ S_3, const float* __restrict__ S_4, float* __restrict__ L) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS_4 < 256 ? 256 / THREADS_4 : 1;
  constexpr int ITEMS = (4 + THREADS_4 * VEC - 1) / (THREADS_4 * VEC);
  const bool live = blockIdx.x * ROWS + threadIdx.y == 0;
  const float* S_3_0_line = S_3;
  const float* S_4_2_line = S_4;
  float acc1 = 0;
  float acc3 = 0;
  Pack<float, VEC> S_3_0_kept[ITEMS];
  Pack<float, VEC> S_4_2_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_4 + int(threadIdx.x)) * VEC;
    S_3_0_kept[item] = load<WHOLE, VEC>(S_3_0_line + column, 4 - column);
    S_4_2_kept[item] = load<WHOLE, VEC>(S_4_2_line + column, 4 - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_4 + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = S_3_0_kept[item].at[i];
      const float v2 = S_4_2_kept[item].at[i];
      if (column + (WHOLE ? 0 : i) < 4) {
        acc1 += v0;
        acc3 += v2;
      }
    }
  }
  const float v1 = reduce_row<THREADS_4, ROWS>(acc1, Sum());
  const float v3 = reduce_row<THREADS_4, ROWS>(acc3, Sum());
  const float v4 = v1 / v3;
  if (live && threadIdx.x == 0) L[0] = v4;
}

__global__ void __launch_bounds__((THREADS_4 < 256 ? 256 : THREADS_4)) rows_3(const float* __restrict__ S_3, const float* __restrict__ S_4, float* __restrict__ L) {
  if (4 % 4 == 0) rows_3_body<true>(S_3, S_4, L);
  else rows_3_body<false>(S_3, S_4, L);
}
