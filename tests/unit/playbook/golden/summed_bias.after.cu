//@ of      summed_bias.before.cu sha256:b38993238ea0a45a36a7e77c2e027155e179d216a26099db0f798f887ec2735c
//@ tune    THREADS = 16 | 32 | 8
//@ tune    THREADS_2 = 16
//@ tune    THREADS_3 = 256
//@ tune    THREADS_4 = 128
//@ scratch S: float32[K, 1]
//@ scratch S_2: float32[32, K, 1]
//@ scratch S_3: float32[1]
//@ launch  column_parts<<<dim3(ceil_div(K, 32), 32), dim3(32, THREADS)>>>(W, S_2, M, K)
//@ launch  columns<<<ceil_div(K, 32), dim3(32, THREADS_2)>>>(S_2, S, K)
//@ launch  rows<<<ceil_div(1, max(1, 256 / THREADS_3)), dim3(THREADS_3, max(1, 256 / THREADS_3))>>>(B, S_3, M)
//@ launch  rows_2<<<ceil_div(N, max(1, 256 / THREADS_4)), dim3(THREADS_4, max(1, 256 / THREADS_4))>>>(X, S, S_3, Y, K, N, M)
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

__global__ void __launch_bounds__(32 * THREADS) column_parts(const float* __restrict__ W, float* __restrict__ S_2, int M, int K) {
  const int first = int(blockIdx.x) * 32 + threadIdx.x;
  const bool live = first < K;
  const int line = live ? first : K - 1;  // idle threads keep the barriers whole
  const float* W_0_line = W + line;
  float acc1 = 0;
  #pragma unroll 4
  for (int column = int(blockIdx.y) * THREADS + int(threadIdx.y); column < M; column += int(gridDim.y) * THREADS) {
    const float v0 = W_0_line[size_t(column) * K];
    acc1 += v0;
  }
  const float v1 = reduce_column<THREADS, 32>(acc1, Sum());
  if (live && threadIdx.y == 0) S_2[line + size_t(blockIdx.y) * K] = v1;
}

__global__ void __launch_bounds__(32 * THREADS_2) columns(const float* __restrict__ S_2, float* __restrict__ S, int K) {
  const int first = int(blockIdx.x) * 32 + threadIdx.x;
  const bool live = first < K;
  const int line = live ? first : K - 1;  // idle threads keep the barriers whole
  const float* S_2_0_line = S_2 + line;
  float acc1 = 0;
  #pragma unroll 4
  for (int column = threadIdx.y; column < 32; column += THREADS_2) {
    const float v0 = S_2_0_line[size_t(column) * K];
    acc1 += v0;
  }
  const float v1 = reduce_column<THREADS_2, 32>(acc1, Sum());
  if (live && threadIdx.y == 0) S[line] = v1;
}

template <bool WHOLE>
__device__ __forceinline__ void rows_body(const float* __restrict__ B, float* __restrict__ S_3, int M) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS_3 < 256 ? 256 / THREADS_3 : 1;
  constexpr int ITEMS = (2048 + THREADS_3 * VEC - 1) / (THREADS_3 * VEC);
  const bool live = blockIdx.x * ROWS + threadIdx.y == 0;
  const float* B_0_line = B;
  float acc1 = 0;
  Pack<float, VEC> B_0_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_3 + int(threadIdx.x)) * VEC;
    B_0_kept[item] = load<WHOLE, VEC>(B_0_line + column, M - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_3 + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = B_0_kept[item].at[i];
      if (column + (WHOLE ? 0 : i) < M) {
        acc1 += v0;
      }
    }
  }
  for (int column = (ITEMS * THREADS_3 + int(threadIdx.x)) * VEC; column < M; column += THREADS_3 * VEC) {
    Pack<float, VEC> B_0_pack = {};
    B_0_pack = load<WHOLE, VEC>(B_0_line + column, M - column);
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = B_0_pack.at[i];
      if (column + (WHOLE ? 0 : i) < M) {
        acc1 += v0;
      }
    }
  }
  const float v1 = reduce_row<THREADS_3, ROWS>(acc1, Sum());
  if (live && threadIdx.x == 0) S_3[0] = v1;
}

__global__ void __launch_bounds__((THREADS_3 < 256 ? 256 : THREADS_3)) rows(const float* __restrict__ B, float* __restrict__ S_3, int M) {
  if (M % 4 == 0) rows_body<true>(B, S_3, M);
  else rows_body<false>(B, S_3, M);
}

template <bool WHOLE>
__device__ __forceinline__ void rows_2_body(const float* __restrict__ X, const float* __restrict__ S, const float* __restrict__ S_3, float* __restrict__ Y, int K, int N, int M) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS_4 < 256 ? 256 / THREADS_4 : 1;
  constexpr int ITEMS = (512 + THREADS_4 * VEC - 1) / (THREADS_4 * VEC);
  const int first = int(blockIdx.x) * ROWS + threadIdx.y;
  const bool live = first < N;
  const int line = live ? first : N - 1;  // idle threads keep the barriers whole
  const float* X_0_line = X + size_t(line) * K;
  const float* S_1_line = S;
  const float S_3_4 = float(S_3[0]);
  float acc3 = 0;
  Pack<float, VEC> X_0_kept[ITEMS];
  Pack<float, VEC> S_1_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_4 + int(threadIdx.x)) * VEC;
    X_0_kept[item] = load<WHOLE, VEC>(X_0_line + column, K - column);
    S_1_kept[item] = load<WHOLE, VEC>(S_1_line + column, K - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_4 + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_kept[item].at[i];
      const float v1 = S_1_kept[item].at[i];
      const float v2 = v0 * v1;
      if (column + (WHOLE ? 0 : i) < K) {
        acc3 += v2;
      }
    }
  }
  for (int column = (ITEMS * THREADS_4 + int(threadIdx.x)) * VEC; column < K; column += THREADS_4 * VEC) {
    Pack<float, VEC> X_0_pack = {};
    X_0_pack = load<WHOLE, VEC>(X_0_line + column, K - column);
    Pack<float, VEC> S_1_pack = {};
    S_1_pack = load<WHOLE, VEC>(S_1_line + column, K - column);
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_pack.at[i];
      const float v1 = S_1_pack.at[i];
      const float v2 = v0 * v1;
      if (column + (WHOLE ? 0 : i) < K) {
        acc3 += v2;
      }
    }
  }
  const float v3 = reduce_row<THREADS_4, ROWS>(acc3, Sum());
  const float v5 = v3 + S_3_4;
  const float v7 = v5 / float(float(M));
  if (live && threadIdx.x == 0) Y[line] = v7;
}

__global__ void __launch_bounds__((THREADS_4 < 256 ? 256 : THREADS_4)) rows_2(const float* __restrict__ X, const float* __restrict__ S, const float* __restrict__ S_3, float* __restrict__ Y, int K, int N, int M) {
  if (K % 4 == 0) rows_2_body<true>(X, S, S_3, Y, K, N, M);
  else rows_2_body<false>(X, S, S_3, Y, K, N, M);
}
