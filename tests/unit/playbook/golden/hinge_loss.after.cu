//@ of      hinge_loss.before.cu sha256:ef3c63a600f001a1625515f2d8aa6f598de00ae9d00c58f361283e45d5ad6d7e
//@ tune    THREADS = 1024 | 512
//@ tune    THREADS_2 = 128
//@ scratch S: float32[512, 1, 1]
//@ launch  row_parts<<<dim3(ceil_div(1, max(1, 256 / THREADS)), 512), dim3(THREADS, max(1, 256 / THREADS))>>>(X, Z, S, N * M, M, N)
//@ launch  rows<<<ceil_div(1, max(1, 256 / THREADS_2)), dim3(THREADS_2, max(1, 256 / THREADS_2))>>>(S, Y, N * M)
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
__device__ __forceinline__ void row_parts_body(const float* __restrict__ X, const float* __restrict__ Z, float* __restrict__ S, int n3, int M, int N) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS < 256 ? 256 / THREADS : 1;
  const bool live = blockIdx.x * ROWS + threadIdx.y == 0;
  const float* X_1_line = X;
  const float* Z_2_line = Z;
  float acc7 = 0;
  #pragma unroll 4
  for (int column = (int(blockIdx.y) * THREADS + int(threadIdx.x)) * VEC; column < n3; column += int(gridDim.y) * THREADS * VEC) {
    Pack<float, VEC> X_1_pack = {};
    X_1_pack = load<WHOLE, VEC>(X_1_line + column, n3 - column);
    Pack<float, VEC> Z_2_pack = {};
    if (WHOLE) {
      Z_2_pack = load<true, VEC>(Z_2_line + ((column % M)), n3 - column);
    } else {
    #pragma unroll
    for (int i = 0; i < VEC; ++i)
      if (column + i < n3) Z_2_pack.at[i] = Z_2_line[(((column + i)) % M)];
    }
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v1 = X_1_pack.at[i];
      const float v2 = Z_2_pack.at[i];
      const float v3 = v1 * v2;
      const float v4 = 1.0f - v3;
      const float v6 = v4 > 0.0f || v4 != v4 ? v4 : 0.0f;
      if (column + (WHOLE ? 0 : i) < n3) {
        acc7 += v6;
      }
    }
  }
  const float v7 = reduce_row<THREADS, ROWS>(acc7, Sum());
  if (live && threadIdx.x == 0) S[size_t(blockIdx.y) * 1] = v7;
}

__global__ void __launch_bounds__((THREADS < 256 ? 256 : THREADS)) row_parts(const float* __restrict__ X, const float* __restrict__ Z, float* __restrict__ S, int n3, int M, int N) {
  if (n3 % 4 == 0 && M % 4 == 0) row_parts_body<true>(X, Z, S, n3, M, N);
  else row_parts_body<false>(X, Z, S, n3, M, N);
}

template <bool WHOLE>
__device__ __forceinline__ void rows_body(const float* __restrict__ S, float* __restrict__ Y, int n2) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS_2 < 256 ? 256 / THREADS_2 : 1;
  constexpr int ITEMS = (512 + THREADS_2 * VEC - 1) / (THREADS_2 * VEC);
  const bool live = blockIdx.x * ROWS + threadIdx.y == 0;
  const float* S_0_line = S;
  float acc1 = 0;
  Pack<float, VEC> S_0_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_2 + int(threadIdx.x)) * VEC;
    S_0_kept[item] = load<WHOLE, VEC>(S_0_line + column, 512 - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS_2 + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = S_0_kept[item].at[i];
      if (column + (WHOLE ? 0 : i) < 512) {
        acc1 += v0;
      }
    }
  }
  const float v1 = reduce_row<THREADS_2, ROWS>(acc1, Sum());
  const float v3 = v1 / float(float(n2));
  if (live && threadIdx.x == 0) Y[0] = v3;
}

__global__ void __launch_bounds__((THREADS_2 < 256 ? 256 : THREADS_2)) rows(const float* __restrict__ S, float* __restrict__ Y, int n2) {
  if (512 % 4 == 0) rows_body<true>(S, Y, n2);
  else rows_body<false>(S, Y, n2);
}
