//@ of      chain_with_vector.before.cu sha256:38e012f954f8bef18569614aa99a8067d70f4b0344d5cf8bfabe3eca947bf8ef
//@ tune    THREADS = 128 | 64 | 32
//@ tune    THREADS_2 = 256
//@ scratch S: float32[M, 1]
//@ launch  rows<<<ceil_div(M, max(1, 256 / THREADS)), dim3(THREADS, max(1, 256 / THREADS))>>>(B, V, S, K, M)
//@ launch  rows_2<<<ceil_div(N, max(1, 256 / THREADS_2)), dim3(THREADS_2, max(1, 256 / THREADS_2))>>>(A, S, Y, M, N)
// playbook: chain order/fused

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
__device__ __forceinline__ void rows_body(const float* __restrict__ B, const float* __restrict__ V, float* __restrict__ S, int K, int M) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS < 256 ? 256 / THREADS : 1;
  constexpr int ITEMS = (512 + THREADS * VEC - 1) / (THREADS * VEC);
  const int first = int(blockIdx.x) * ROWS + threadIdx.y;
  const bool live = first < M;
  const int line = live ? first : M - 1;  // idle threads keep the barriers whole
  const float* B_0_line = B + size_t(line) * K;
  const float* V_1_line = V;
  float acc3 = 0;
  Pack<float, VEC> B_0_kept[ITEMS];
  Pack<float, VEC> V_1_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    B_0_kept[item] = load<WHOLE, VEC>(B_0_line + column, K - column);
    V_1_kept[item] = load<WHOLE, VEC>(V_1_line + column, K - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = B_0_kept[item].at[i];
      const float v1 = V_1_kept[item].at[i];
      const float v2 = v0 * v1;
      if (column + (WHOLE ? 0 : i) < K) {
        acc3 += v2;
      }
    }
  }
  for (int column = (ITEMS * THREADS + int(threadIdx.x)) * VEC; column < K; column += THREADS * VEC) {
    Pack<float, VEC> B_0_pack = {};
    B_0_pack = load<WHOLE, VEC>(B_0_line + column, K - column);
    Pack<float, VEC> V_1_pack = {};
    V_1_pack = load<WHOLE, VEC>(V_1_line + column, K - column);
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = B_0_pack.at[i];
      const float v1 = V_1_pack.at[i];
      const float v2 = v0 * v1;
      if (column + (WHOLE ? 0 : i) < K) {
        acc3 += v2;
      }
    }
  }
  const float v3 = reduce_row<THREADS, ROWS>(acc3, Sum());
  if (live && threadIdx.x == 0) S[line] = v3;
}

__global__ void __launch_bounds__((THREADS < 256 ? 256 : THREADS)) rows(const float* __restrict__ B, const float* __restrict__ V, float* __restrict__ S, int K, int M) {
  if (K % 4 == 0) rows_body<true>(B, V, S, K, M);
  else rows_body<false>(B, V, S, K, M);
}

template <bool WHOLE>
__device__ __forceinline__ void rows_2_body(const float* __restrict__ A, const float* __restrict__ S, float* __restrict__ Y, int M, int N) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS_2 < 256 ? 256 / THREADS_2 : 1;
  constexpr int ITEMS = (2048 + THREADS_2 * VEC - 1) / (THREADS_2 * VEC);
  const int first = int(blockIdx.x) * ROWS + threadIdx.y;
  const bool live = first < N;
  const int line = live ? first : N - 1;  // idle threads keep the barriers whole
  const float* A_0_line = A + size_t(line) * M;
  const float* S_1_line = S;
  float acc3 = 0;
  Pack<float, VEC> A_0_kept[ITEMS];
  Pack<float, VEC> S_1_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_2 + int(threadIdx.x)) * VEC;
    A_0_kept[item] = load<WHOLE, VEC>(A_0_line + column, M - column);
    S_1_kept[item] = load<WHOLE, VEC>(S_1_line + column, M - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_2 + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = A_0_kept[item].at[i];
      const float v1 = S_1_kept[item].at[i];
      const float v2 = v0 * v1;
      if (column + (WHOLE ? 0 : i) < M) {
        acc3 += v2;
      }
    }
  }
  for (int column = (ITEMS * THREADS_2 + int(threadIdx.x)) * VEC; column < M; column += THREADS_2 * VEC) {
    Pack<float, VEC> A_0_pack = {};
    A_0_pack = load<WHOLE, VEC>(A_0_line + column, M - column);
    Pack<float, VEC> S_1_pack = {};
    S_1_pack = load<WHOLE, VEC>(S_1_line + column, M - column);
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = A_0_pack.at[i];
      const float v1 = S_1_pack.at[i];
      const float v2 = v0 * v1;
      if (column + (WHOLE ? 0 : i) < M) {
        acc3 += v2;
      }
    }
  }
  const float v3 = reduce_row<THREADS_2, ROWS>(acc3, Sum());
  if (live && threadIdx.x == 0) Y[line] = v3;
}

__global__ void __launch_bounds__((THREADS_2 < 256 ? 256 : THREADS_2)) rows_2(const float* __restrict__ A, const float* __restrict__ S, float* __restrict__ Y, int M, int N) {
  if (M % 4 == 0) rows_2_body<true>(A, S, Y, M, N);
  else rows_2_body<false>(A, S, Y, M, N);
}
