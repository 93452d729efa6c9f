//@ of      columns.before.cu sha256:5ca7e0caa2e718ac92ff9d9606a1a375204c40259684804f78fa124a5213d61f
//@ tune    THREADS = 32 | 16 | 8
//@ launch  columns<<<ceil_div(M, 32), dim3(32, THREADS)>>>(X, Y, N, M)
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

__global__ void __launch_bounds__(32 * THREADS) columns(const float* __restrict__ X, float* __restrict__ Y, int N, int M) {
  const int first = int(blockIdx.x) * 32 + threadIdx.x;
  const bool live = first < M;
  const int line = live ? first : M - 1;  // idle threads keep the barriers whole
  const float* X_0_line = X + line;
  float acc1 = 0;
  #pragma unroll 4
  for (int column = threadIdx.y; column < N; column += THREADS) {
    const float v0 = X_0_line[size_t(column) * M];
    acc1 += v0;
  }
  const float v1 = reduce_column<THREADS, 32>(acc1, Sum());
  const float v3 = v1 / float(float(N));
  if (live && threadIdx.y == 0) Y[line] = v3;
}
