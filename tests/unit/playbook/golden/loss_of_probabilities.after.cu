//@ of      loss_of_probabilities.before.cu sha256:9f0b12961efba554589568b2899dabf7fabf0218697b02af01da763a4ee8d71e
//@ tune    THREADS = 256 | 128 | 64
//@ tune    THREADS_2 = 1024
//@ tune    THREADS_3 = 32
//@ scratch S: float32[N, 1]
//@ scratch S_2: float32[4, 1, 1]
//@ launch  rows<<<ceil_div(N, max(1, 256 / THREADS)), dim3(THREADS, max(1, 256 / THREADS))>>>(T, X, S, C, N)
//@ launch  row_parts<<<dim3(ceil_div(1, max(1, 256 / THREADS_2)), 4), dim3(THREADS_2, max(1, 256 / THREADS_2))>>>(S, S_2, N)
//@ launch  rows_2<<<ceil_div(1, max(1, 256 / THREADS_3)), dim3(THREADS_3, max(1, 256 / THREADS_3))>>>(S_2, L, N)
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
__device__ __forceinline__ void rows_body(const float* __restrict__ T, const float* __restrict__ X, float* __restrict__ S, int C, int N) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS < 256 ? 256 / THREADS : 1;
  constexpr int ITEMS = (1024 + THREADS * VEC - 1) / (THREADS * VEC);
  const int first = int(blockIdx.x) * ROWS + threadIdx.y;
  const bool live = first < N;
  const int line = live ? first : N - 1;  // idle threads keep the barriers whole
  const float* T_0_line = T + size_t(line) * C;
  const float* X_1_line = X + size_t(line) * C;
  float acc2 = __int_as_float(0xff800000);
  Pack<float, VEC> X_1_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    X_1_kept[item] = load<WHOLE, VEC>(X_1_line + column, C - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v1 = X_1_kept[item].at[i];
      if (column + (WHOLE ? 0 : i) < C) {
        acc2 = Larger()(acc2, float(v1));
      }
    }
  }
  for (int column = (ITEMS * THREADS + int(threadIdx.x)) * VEC; column < C; column += THREADS * VEC) {
    Pack<float, VEC> X_1_pack = {};
    X_1_pack = load<WHOLE, VEC>(X_1_line + column, C - column);
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v1 = X_1_pack.at[i];
      if (column + (WHOLE ? 0 : i) < C) {
        acc2 = Larger()(acc2, float(v1));
      }
    }
  }
  const float v2 = reduce_row<THREADS, ROWS>(acc2, Larger());
  float acc5 = 0;
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v1 = X_1_kept[item].at[i];
      const float v3 = v1 - v2;
      const float v4 = exp(v3);
      if (column + (WHOLE ? 0 : i) < C) {
        acc5 += v4;
      }
    }
  }
  for (int column = (ITEMS * THREADS + int(threadIdx.x)) * VEC; column < C; column += THREADS * VEC) {
    Pack<float, VEC> X_1_pack = {};
    X_1_pack = load<WHOLE, VEC>(X_1_line + column, C - column);
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v1 = X_1_pack.at[i];
      const float v3 = v1 - v2;
      const float v4 = exp(v3);
      if (column + (WHOLE ? 0 : i) < C) {
        acc5 += v4;
      }
    }
  }
  const float v5 = reduce_row<THREADS, ROWS>(acc5, Sum());
  const float v6 = log(v5);
  const float v7 = v6 + v2;
  float acc10 = 0;
  Pack<float, VEC> T_0_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    T_0_kept[item] = load<WHOLE, VEC>(T_0_line + column, C - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = T_0_kept[item].at[i];
      const float v1 = X_1_kept[item].at[i];
      const float v8 = v7 - v1;
      const float v9 = v0 * v8;
      if (column + (WHOLE ? 0 : i) < C) {
        acc10 += v9;
      }
    }
  }
  for (int column = (ITEMS * THREADS + int(threadIdx.x)) * VEC; column < C; column += THREADS * VEC) {
    Pack<float, VEC> T_0_pack = {};
    T_0_pack = load<WHOLE, VEC>(T_0_line + column, C - column);
    Pack<float, VEC> X_1_pack = {};
    X_1_pack = load<WHOLE, VEC>(X_1_line + column, C - column);
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = T_0_pack.at[i];
      const float v1 = X_1_pack.at[i];
      const float v8 = v7 - v1;
      const float v9 = v0 * v8;
      if (column + (WHOLE ? 0 : i) < C) {
        acc10 += v9;
      }
    }
  }
  const float v10 = reduce_row<THREADS, ROWS>(acc10, Sum());
  if (live && threadIdx.x == 0) S[line] = v10;
}

__global__ void __launch_bounds__((THREADS < 256 ? 256 : THREADS)) rows(const float* __restrict__ T, const float* __restrict__ X, float* __restrict__ S, int C, int N) {
  if (C % 4 == 0) rows_body<true>(T, X, S, C, N);
  else rows_body<false>(T, X, S, C, N);
}

template <bool WHOLE>
__device__ __forceinline__ void row_parts_body(const float* __restrict__ S, float* __restrict__ S_2, int N) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS_2 < 256 ? 256 / THREADS_2 : 1;
  const bool live = blockIdx.x * ROWS + threadIdx.y == 0;
  const float* S_0_line = S;
  float acc1 = 0;
  #pragma unroll 4
  for (int column = (int(blockIdx.y) * THREADS_2 + int(threadIdx.x)) * VEC; column < N; column += int(gridDim.y) * THREADS_2 * VEC) {
    Pack<float, VEC> S_0_pack = {};
    S_0_pack = load<WHOLE, VEC>(S_0_line + column, N - column);
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = S_0_pack.at[i];
      if (column + (WHOLE ? 0 : i) < N) {
        acc1 += v0;
      }
    }
  }
  const float v1 = reduce_row<THREADS_2, ROWS>(acc1, Sum());
  if (live && threadIdx.x == 0) S_2[size_t(blockIdx.y) * 1] = v1;
}

__global__ void __launch_bounds__((THREADS_2 < 256 ? 256 : THREADS_2)) row_parts(const float* __restrict__ S, float* __restrict__ S_2, int N) {
  if (N % 4 == 0) row_parts_body<true>(S, S_2, N);
  else row_parts_body<false>(S, S_2, N);
}

template <bool WHOLE>
__device__ __forceinline__ void rows_2_body(const float* __restrict__ S_2, float* __restrict__ L, int N) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS_3 < 256 ? 256 / THREADS_3 : 1;
  constexpr int ITEMS = (4 + THREADS_3 * VEC - 1) / (THREADS_3 * VEC);
  const bool live = blockIdx.x * ROWS + threadIdx.y == 0;
  const float* S_2_0_line = S_2;
  float acc1 = 0;
  Pack<float, VEC> S_2_0_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_3 + int(threadIdx.x)) * VEC;
    S_2_0_kept[item] = load<WHOLE, VEC>(S_2_0_line + column, 4 - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_3 + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = S_2_0_kept[item].at[i];
      if (column + (WHOLE ? 0 : i) < 4) {
        acc1 += v0;
      }
    }
  }
  const float v1 = reduce_row<THREADS_3, ROWS>(acc1, Sum());
  const float v3 = v1 / float(float(N));
  if (live && threadIdx.x == 0) L[0] = v3;
}

__global__ void __launch_bounds__((THREADS_3 < 256 ? 256 : THREADS_3)) rows_2(const float* __restrict__ S_2, float* __restrict__ L, int N) {
  if (4 % 4 == 0) rows_2_body<true>(S_2, L, N);
  else rows_2_body<false>(S_2, L, N);
}
