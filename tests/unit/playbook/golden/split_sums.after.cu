//@ of      split_sums.before.cu sha256:2e549586f0ec5f2eea845519cd97a871ae5f2ac8153712e2d42b4e13b02c0715
//@ tune    THREADS = 1024 | 512
//@ tune    THREADS_2 = 128
//@ scratch S: float32[512, 1]
//@ scratch S_2: float32[512, 1]
//@ scratch S_3: float32[512, 1]
//@ launch  row_parts<<<dim3(ceil_div(1, max(1, 256 / THREADS)), 512), dim3(THREADS, max(1, 256 / THREADS))>>>(A, B, S, S_2, S_3, N)
//@ launch  rows<<<ceil_div(1, max(1, 256 / THREADS_2)), dim3(THREADS_2, max(1, 256 / THREADS_2))>>>(S, S_2, S_3, Y)
// playbook: strength/fused

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
__device__ __forceinline__ void row_parts_body(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ S, float* __restrict__ S_2, float* __restrict__ S_3, int N) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS < 256 ? 256 / THREADS : 1;
  const bool live = blockIdx.x * ROWS + threadIdx.y == 0;
  const float* A_0_line = A;
  const float* B_1_line = B;
  float acc3 = 0;
  float acc5 = 0;
  float acc7 = 0;
  #pragma unroll 4
  for (int column = (int(blockIdx.y) * THREADS + int(threadIdx.x)) * VEC; column < N; column += int(gridDim.y) * THREADS * VEC) {
    Pack<float, VEC> A_0_pack = {};
    A_0_pack = load<WHOLE, VEC>(A_0_line + column, N - column);
    Pack<float, VEC> B_1_pack = {};
    B_1_pack = load<WHOLE, VEC>(B_1_line + column, N - column);
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = A_0_pack.at[i];
      const float v1 = B_1_pack.at[i];
      const float v2 = v0 * v1;
      const float v4 = v0 * v0;
      const float v6 = v1 * v1;
      if (column + (WHOLE ? 0 : i) < N) {
        acc3 += v2;
        acc5 += v4;
        acc7 += v6;
      }
    }
  }
  const float v3 = reduce_row<THREADS, ROWS>(acc3, Sum());
  const float v5 = reduce_row<THREADS, ROWS>(acc5, Sum());
  const float v7 = reduce_row<THREADS, ROWS>(acc7, Sum());
  if (live && threadIdx.x == 0) S[size_t(blockIdx.y) * 1] = v3;
  if (live && threadIdx.x == 0) S_2[size_t(blockIdx.y) * 1] = v5;
  if (live && threadIdx.x == 0) S_3[size_t(blockIdx.y) * 1] = v7;
}

__global__ void __launch_bounds__((THREADS < 256 ? 256 : THREADS)) row_parts(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ S, float* __restrict__ S_2, float* __restrict__ S_3, int N) {
  if (N % 4 == 0) row_parts_body<true>(A, B, S, S_2, S_3, N);
  else row_parts_body<false>(A, B, S, S_2, S_3, N);
}

template <bool WHOLE>
__device__ __forceinline__ void rows_body(const float* __restrict__ S, const float* __restrict__ S_2, const float* __restrict__ S_3, float* __restrict__ Y) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS_2 < 256 ? 256 / THREADS_2 : 1;
  constexpr int ITEMS = (512 + THREADS_2 * VEC - 1) / (THREADS_2 * VEC);
  const bool live = blockIdx.x * ROWS + threadIdx.y == 0;
  const float* S_0_line = S;
  const float* S_2_2_line = S_2;
  const float* S_3_4_line = S_3;
  float acc1 = 0;
  float acc3 = 0;
  float acc5 = 0;
  Pack<float, VEC> S_0_kept[ITEMS];
  Pack<float, VEC> S_2_2_kept[ITEMS];
  Pack<float, VEC> S_3_4_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_2 + int(threadIdx.x)) * VEC;
    S_0_kept[item] = load<WHOLE, VEC>(S_0_line + column, 512 - column);
    S_2_2_kept[item] = load<WHOLE, VEC>(S_2_2_line + column, 512 - column);
    S_3_4_kept[item] = load<WHOLE, VEC>(S_3_4_line + column, 512 - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_2 + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = S_0_kept[item].at[i];
      const float v2 = S_2_2_kept[item].at[i];
      const float v4 = S_3_4_kept[item].at[i];
      if (column + (WHOLE ? 0 : i) < 512) {
        acc1 += v0;
        acc3 += v2;
        acc5 += v4;
      }
    }
  }
  const float v1 = reduce_row<THREADS_2, ROWS>(acc1, Sum());
  const float v3 = reduce_row<THREADS_2, ROWS>(acc3, Sum());
  const float v5 = reduce_row<THREADS_2, ROWS>(acc5, Sum());
  const float v6 = v3 * v5;
  const float v7 = rsqrt(v6);
  const float v8 = v1 * v7;
  if (live && threadIdx.x == 0) Y[0] = v8;
}

__global__ void __launch_bounds__((THREADS_2 < 256 ? 256 : THREADS_2)) rows(const float* __restrict__ S, const float* __restrict__ S_2, const float* __restrict__ S_3, float* __restrict__ Y) {
  if (512 % 4 == 0) rows_body<true>(S, S_2, S_3, Y);
  else rows_body<false>(S, S_2, S_3, Y);
}
