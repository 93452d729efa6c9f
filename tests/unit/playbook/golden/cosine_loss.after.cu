//@ of      cosine_loss.before.cu sha256:2df4a10ed62683951c7697d151a4164f8035cdc56334695e8507ec86f6c76ca0
//@ tune    THREADS = 256 | 128 | 64 | 32
//@ tune    THREADS_2 = 256
//@ scratch S: float32[N]
//@ launch  rows<<<ceil_div(N, max(1, 256 / THREADS)), dim3(THREADS, max(1, 256 / THREADS))>>>(X, Z, S, M, N)
//@ launch  rows_2<<<ceil_div(1, max(1, 256 / THREADS_2)), dim3(THREADS_2, max(1, 256 / THREADS_2))>>>(S, Y, N)
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
__device__ __forceinline__ void rows_body(const float* __restrict__ X, const float* __restrict__ Z, float* __restrict__ S, int M, int N) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS < 256 ? 256 / THREADS : 1;
  constexpr int ITEMS = (1024 + THREADS * VEC - 1) / (THREADS * VEC);
  const int first = int(blockIdx.x) * ROWS + threadIdx.y;
  const bool live = first < N;
  const int line = live ? first : N - 1;  // idle threads keep the barriers whole
  const float* X_1_line = X + size_t(line) * M;
  const float* Z_2_line = Z + size_t(line) * M;
  float acc4 = 0;
  float acc6 = 0;
  float acc11 = 0;
  Pack<float, VEC> X_1_kept[ITEMS];
  Pack<float, VEC> Z_2_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    X_1_kept[item] = load<WHOLE, VEC>(X_1_line + column, M - column);
    Z_2_kept[item] = load<WHOLE, VEC>(Z_2_line + column, M - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v1 = X_1_kept[item].at[i];
      const float v2 = Z_2_kept[item].at[i];
      const float v3 = v1 * v2;
      const float v5 = v1 * v1;
      const float v10 = v2 * v2;
      if (column + (WHOLE ? 0 : i) < M) {
        acc4 += v3;
        acc6 += v5;
        acc11 += v10;
      }
    }
  }
  for (int column = (ITEMS * THREADS + int(threadIdx.x)) * VEC; column < M; column += THREADS * VEC) {
    Pack<float, VEC> X_1_pack = {};
    X_1_pack = load<WHOLE, VEC>(X_1_line + column, M - column);
    Pack<float, VEC> Z_2_pack = {};
    Z_2_pack = load<WHOLE, VEC>(Z_2_line + column, M - column);
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v1 = X_1_pack.at[i];
      const float v2 = Z_2_pack.at[i];
      const float v3 = v1 * v2;
      const float v5 = v1 * v1;
      const float v10 = v2 * v2;
      if (column + (WHOLE ? 0 : i) < M) {
        acc4 += v3;
        acc6 += v5;
        acc11 += v10;
      }
    }
  }
  const float v4 = reduce_row<THREADS, ROWS>(acc4, Sum());
  const float v6 = reduce_row<THREADS, ROWS>(acc6, Sum());
  const float v11 = reduce_row<THREADS, ROWS>(acc11, Sum());
  const float v7 = sqrt(v6);
  const float v9 = v7 > 1e-08f || v7 != v7 ? v7 : 1e-08f;
  const float v12 = sqrt(v11);
  const float v13 = v12 > 1e-08f || v12 != v12 ? v12 : 1e-08f;
  const float v14 = v9 * v13;
  const float v15 = v4 / v14;
  const float v16 = 1.0f - v15;
  if (live && threadIdx.x == 0) S[line] = v16;
}

__global__ void __launch_bounds__((THREADS < 256 ? 256 : THREADS)) rows(const float* __restrict__ X, const float* __restrict__ Z, float* __restrict__ S, int M, int N) {
  if (M % 4 == 0) rows_body<true>(X, Z, S, M, N);
  else rows_body<false>(X, Z, S, M, N);
}

template <bool WHOLE>
__device__ __forceinline__ void rows_2_body(const float* __restrict__ S, float* __restrict__ Y, int N) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS_2 < 256 ? 256 / THREADS_2 : 1;
  constexpr int ITEMS = (4096 + THREADS_2 * VEC - 1) / (THREADS_2 * VEC);
  const bool live = blockIdx.x * ROWS + threadIdx.y == 0;
  const float* S_0_line = S;
  float acc1 = 0;
  Pack<float, VEC> S_0_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_2 + int(threadIdx.x)) * VEC;
    S_0_kept[item] = load<WHOLE, VEC>(S_0_line + column, N - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_2 + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = S_0_kept[item].at[i];
      if (column + (WHOLE ? 0 : i) < N) {
        acc1 += v0;
      }
    }
  }
  for (int column = (ITEMS * THREADS_2 + int(threadIdx.x)) * VEC; column < N; column += THREADS_2 * VEC) {
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
  const float v3 = v1 / float(float(N));
  if (live && threadIdx.x == 0) Y[0] = v3;
}

__global__ void __launch_bounds__((THREADS_2 < 256 ? 256 : THREADS_2)) rows_2(const float* __restrict__ S, float* __restrict__ Y, int N) {
  if (N % 4 == 0) rows_2_body<true>(S, Y, N);
  else rows_2_body<false>(S, Y, N);
}
