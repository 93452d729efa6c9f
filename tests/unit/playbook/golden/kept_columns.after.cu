//@ of      kept_columns.before.cu sha256:656c2c10f45dd1d7b5a3429d113a0e2ad227f4056e1d5f19b498e68e43907448
//@ tune    THREADS = 8 | 16 | 4
//@ tune    LINES = 64 | 32 | 128 if LINES * THREADS <= 1024
//@ launch  columns<<<ceil_div(B * M, LINES), dim3(LINES, THREADS)>>>(X, Y, N, B * M, M, B, N * M)
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

__global__ void __launch_bounds__(LINES * THREADS) columns(const float* __restrict__ X, float* __restrict__ Y, int N, int n3, int M, int B, int n6) {
  const int first = int(blockIdx.x) * LINES + threadIdx.x;
  const bool live = first < n3;
  const int line = live ? first : n3 - 1;  // idle threads keep the barriers whole
  constexpr int ITEMS = (64 + THREADS - 1) / (THREADS);
  const int at2 = line % M;
  const int at0 = line / M;
  const float* X_0_line = X + size_t(at0) * n6 + at2;
  float acc1 = __int_as_float(0xff800000);
  float X_0_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = item * THREADS + int(threadIdx.y);
    X_0_kept[item] = X_0_line[column < N ? size_t(column) * M : 0];
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = item * THREADS + int(threadIdx.y);
    const float v0 = X_0_kept[item];
    if (column < N) {
      acc1 = Larger()(acc1, float(v0));
    }
  }
  for (int column = ITEMS * THREADS + int(threadIdx.y); column < N; column += THREADS) {
    const float v0 = X_0_line[size_t(column) * M];
    acc1 = Larger()(acc1, float(v0));
  }
  const float v1 = reduce_column<THREADS, LINES>(acc1, Larger());
  float acc4 = 0;
  float k3[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = item * THREADS + int(threadIdx.y);
    const float v0 = X_0_kept[item];
    const float v2 = v0 - v1;
    const float v3 = exp(v2);
    k3[item] = v3;
    if (column < N) {
      acc4 += v3;
    }
  }
  for (int column = ITEMS * THREADS + int(threadIdx.y); column < N; column += THREADS) {
    const float v0 = X_0_line[size_t(column) * M];
    const float v2 = v0 - v1;
    const float v3 = exp(v2);
    acc4 += v3;
  }
  const float v4 = reduce_column<THREADS, LINES>(acc4, Sum());
  const float v5 = 1 / v4;
  float* out0_line = Y + size_t(at0) * n6 + at2;
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = item * THREADS + int(threadIdx.y);
    const float v3 = k3[item];
    const float v6 = v3 * v5;
    if (live && column < N) out0_line[size_t(column) * M] = v6;
  }
  for (int column = ITEMS * THREADS + int(threadIdx.y); column < N; column += THREADS) {
    const float v0 = X_0_line[size_t(column) * M];
    const float v2 = v0 - v1;
    const float v3 = exp(v2);
    const float v6 = v3 * v5;
    if (live) out0_line[size_t(column) * M] = v6;
  }
}
