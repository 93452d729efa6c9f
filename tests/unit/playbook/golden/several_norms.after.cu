//@ of      several_norms.before.cu sha256:a5c82c377e31269ccdaa571cc183f0142e787e2f32197c88cb4d5b6a30fd2f8e
//@ tune    THREADS = 256 | 512 | 128 | 64
//@ tune    THREADS_2 = 16
//@ tune    THREADS_3 = 8
//@ scratch S: float32[16, 1, M]
//@ launch  rows<<<ceil_div(N, max(1, 256 / THREADS)), dim3(THREADS, max(1, 256 / THREADS))>>>(X, A, B, M, N)
//@ launch  column_parts<<<dim3(ceil_div(M, 32), 16), dim3(32, THREADS_2)>>>(X, S, N, M)
//@ launch  columns<<<ceil_div(M, 32), dim3(32, THREADS_3)>>>(S, C, M, N)
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

template <bool WHOLE>
__device__ __forceinline__ void rows_body(const float* __restrict__ X, float* __restrict__ A, float* __restrict__ B, int M, int N) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS < 256 ? 256 / THREADS : 1;
  constexpr int ITEMS = (2048 + THREADS * VEC - 1) / (THREADS * VEC);
  const int first = int(blockIdx.x) * ROWS + threadIdx.y;
  const bool live = first < N;
  const int line = live ? first : N - 1;  // idle threads keep the barriers whole
  const float* X_0_line = X + size_t(line) * M;
  float acc2 = 0;
  float acc5 = 0;
  Pack<float, VEC> X_0_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    X_0_kept[item] = load<WHOLE, VEC>(X_0_line + column, M - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_kept[item].at[i];
      const float v1 = v0 * v0;
      const float v4 = v0 < 0 ? -v0 : v0;
      if (column + (WHOLE ? 0 : i) < M) {
        acc2 += v1;
        acc5 += v4;
      }
    }
  }
  for (int column = (ITEMS * THREADS + int(threadIdx.x)) * VEC; column < M; column += THREADS * VEC) {
    Pack<float, VEC> X_0_pack = {};
    X_0_pack = load<WHOLE, VEC>(X_0_line + column, M - column);
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_pack.at[i];
      const float v1 = v0 * v0;
      const float v4 = v0 < 0 ? -v0 : v0;
      if (column + (WHOLE ? 0 : i) < M) {
        acc2 += v1;
        acc5 += v4;
      }
    }
  }
  const float v2 = reduce_row<THREADS, ROWS>(acc2, Sum());
  const float v5 = reduce_row<THREADS, ROWS>(acc5, Sum());
  const float v3 = sqrt(v2);
  if (live && threadIdx.x == 0) A[line] = v3;
  if (live && threadIdx.x == 0) B[line] = v5;
}

__global__ void __launch_bounds__((THREADS < 256 ? 256 : THREADS)) rows(const float* __restrict__ X, float* __restrict__ A, float* __restrict__ B, int M, int N) {
  if (M % 4 == 0) rows_body<true>(X, A, B, M, N);
  else rows_body<false>(X, A, B, M, N);
}

__global__ void __launch_bounds__(32 * THREADS_2) column_parts(const float* __restrict__ X, float* __restrict__ S, int N, int M) {
  const int first = int(blockIdx.x) * 32 + threadIdx.x;
  const bool live = first < M;
  const int line = live ? first : M - 1;  // idle threads keep the barriers whole
  const float* X_0_line = X + line;
  float acc1 = 0;
  #pragma unroll 4
  for (int column = int(blockIdx.y) * THREADS_2 + int(threadIdx.y); column < N; column += int(gridDim.y) * THREADS_2) {
    const float v0 = X_0_line[size_t(column) * M];
    acc1 += v0;
  }
  const float v1 = reduce_column<THREADS_2, 32>(acc1, Sum());
  if (live && threadIdx.y == 0) S[line + size_t(blockIdx.y) * M] = v1;
}

__global__ void __launch_bounds__(32 * THREADS_3) columns(const float* __restrict__ S, float* __restrict__ C, int M, int N) {
  const int first = int(blockIdx.x) * 32 + threadIdx.x;
  const bool live = first < M;
  const int line = live ? first : M - 1;  // idle threads keep the barriers whole
  const float* S_0_line = S + line;
  float acc1 = 0;
  #pragma unroll 4
  for (int column = threadIdx.y; column < 16; column += THREADS_3) {
    const float v0 = S_0_line[size_t(column) * M];
    acc1 += v0;
  }
  const float v1 = reduce_column<THREADS_3, 32>(acc1, Sum());
  const float v3 = v1 / float(float(N));
  if (live && threadIdx.y == 0) C[line] = v3;
}
