//@ of      pooled_mean.before.cu sha256:1b4e45dd5e7a200ef0fcdfee9e44e163af6b1750fe86791a44f7bf428b231b3b
//@ tune    THREADS = 512 | 1024
//@ launch  rows<<<ceil_div(B * C, max(1, 256 / THREADS)), dim3(THREADS, max(1, 256 / THREADS))>>>(X, Y, H * W, B * C, ((H - 2) / 2 + 1) * ((W - 2) / 2 + 1))
// playbook: linear sums+strength/fused

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
__device__ __forceinline__ void rows_body(const float* __restrict__ X, float* __restrict__ Y, int n2, int n3, int n4) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS < 256 ? 256 / THREADS : 1;
  constexpr int ITEMS = (16384 + THREADS * VEC - 1) / (THREADS * VEC);
  const int first = int(blockIdx.x) * ROWS + threadIdx.y;
  const bool live = first < n3;
  const int line = live ? first : n3 - 1;  // idle threads keep the barriers whole
  const float* X_0_line = X + size_t(line) * n2;
  float acc1 = 0;
  Pack<float, VEC> X_0_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    X_0_kept[item] = load<WHOLE, VEC>(X_0_line + column, n2 - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_kept[item].at[i];
      if (column + (WHOLE ? 0 : i) < n2) {
        acc1 += v0;
      }
    }
  }
  for (int column = (ITEMS * THREADS + int(threadIdx.x)) * VEC; column < n2; column += THREADS * VEC) {
    Pack<float, VEC> X_0_pack = {};
    X_0_pack = load<WHOLE, VEC>(X_0_line + column, n2 - column);
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_pack.at[i];
      if (column + (WHOLE ? 0 : i) < n2) {
        acc1 += v0;
      }
    }
  }
  const float v1 = reduce_row<THREADS, ROWS>(acc1, Sum());
  const float v3 = v1 * 0.25f;
  const float v5 = v3 / float(float(n4));
  if (live && threadIdx.x == 0) Y[line] = v5;
}

__global__ void __launch_bounds__((THREADS < 256 ? 256 : THREADS)) rows(const float* __restrict__ X, float* __restrict__ Y, int n2, int n3, int n4) {
  if (n2 % 4 == 0) rows_body<true>(X, Y, n2, n3, n4);
  else rows_body<false>(X, Y, n2, n3, n4);
}
