//@ of      broadcast_total.before.cu sha256:846a83d25974eea8577ab0741f214bc3b951f851f66efd3f15ddc4db7a4499bc
//@ tune    THREADS = 1024 | 512
//@ tune    THREADS_2 = 256
//@ scratch S: float32[375, 1, 1, 1]
//@ launch  row_parts<<<dim3(ceil_div(1, max(1, 256 / THREADS)), 375), dim3(THREADS, max(1, 256 / THREADS))>>>(X, B, S, (N * C) * H, H, C, N)
//@ launch  rows<<<ceil_div(1, max(1, 256 / THREADS_2)), dim3(THREADS_2, max(1, 256 / THREADS_2))>>>(S, Y)
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
__device__ __forceinline__ void row_parts_body(const float* __restrict__ X, const float* __restrict__ B, float* __restrict__ S, int n3, int H, int C, int N) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS < 256 ? 256 / THREADS : 1;
  const bool live = blockIdx.x * ROWS + threadIdx.y == 0;
  const float* X_0_line = X;
  const float* B_1_line = B;
  float acc3 = 0;
  #pragma unroll 4
  for (int column = (int(blockIdx.y) * THREADS + int(threadIdx.x)) * VEC; column < n3; column += int(gridDim.y) * THREADS * VEC) {
    Pack<float, VEC> X_0_pack = {};
    X_0_pack = load<WHOLE, VEC>(X_0_line + column, n3 - column);
    Pack<float, VEC> B_1_pack = {};
    if (WHOLE) {
      const auto same = column < n3 ? B_1_line[((column / H) % C)] : B_1_line[0];
    #pragma unroll
      for (int i = 0; i < VEC; ++i) B_1_pack.at[i] = same;
    } else {
    #pragma unroll
    for (int i = 0; i < VEC; ++i)
      if (column + i < n3) B_1_pack.at[i] = B_1_line[((((column + i)) / H) % C)];
    }
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_pack.at[i];
      const float v1 = B_1_pack.at[i];
      const float v2 = v0 + v1;
      if (column + (WHOLE ? 0 : i) < n3) {
        acc3 += v2;
      }
    }
  }
  const float v3 = reduce_row<THREADS, ROWS>(acc3, Sum());
  if (live && threadIdx.x == 0) S[size_t(blockIdx.y) * 1] = v3;
}

__global__ void __launch_bounds__((THREADS < 256 ? 256 : THREADS)) row_parts(const float* __restrict__ X, const float* __restrict__ B, float* __restrict__ S, int n3, int H, int C, int N) {
  if (n3 % 4 == 0 && H % 4 == 0) row_parts_body<true>(X, B, S, n3, H, C, N);
  else row_parts_body<false>(X, B, S, n3, H, C, N);
}

__global__ void __launch_bounds__((THREADS_2 < 256 ? 256 : THREADS_2)) rows(const float* __restrict__ S, float* __restrict__ Y) {
  constexpr int VEC = 1;
  constexpr int ROWS = THREADS_2 < 256 ? 256 / THREADS_2 : 1;
  constexpr int ITEMS = (375 + THREADS_2 * VEC - 1) / (THREADS_2 * VEC);
  const bool live = blockIdx.x * ROWS + threadIdx.y == 0;
  const float* S_0_line = S;
  float acc1 = 0;
  Pack<float, VEC> S_0_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_2 + int(threadIdx.x)) * VEC;
    S_0_kept[item] = load<false, VEC>(S_0_line + column, 375 - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_2 + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = S_0_kept[item].at[i];
      if (column + i < 375) {
        acc1 += v0;
      }
    }
  }
  const float v1 = reduce_row<THREADS_2, ROWS>(acc1, Sum());
  if (live && threadIdx.x == 0) Y[0] = v1;
}
