//@ of      packed_columns.before.cu sha256:656c2c10f45dd1d7b5a3429d113a0e2ad227f4056e1d5f19b498e68e43907448
//@ tune    THREADS = 8 | 16 | 32
//@ tune    LINES = 128 | 64 | 256 if LINES * THREADS <= 4096
//@ launch  columns<<<ceil_div(B * M, LINES), dim3((LINES / 4), THREADS)>>>(X, Y, N, B * M, M, B, N * M)
// playbook: as written/packed columns

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

// An operation on every element of two packs.
template <typename Combine>
struct Each {
  template <typename T, int VEC>
  __device__ Pack<T, VEC> operator()(Pack<T, VEC> a, const Pack<T, VEC>& b) const {
#pragma unroll
    for (int i = 0; i < VEC; ++i) a.at[i] = Combine()(a.at[i], b.at[i]);
    return a;
  }
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

template <int VEC>
__device__ __forceinline__ void columns_body(const float* __restrict__ X, float* __restrict__ Y, int N, int n3, int M, int B, int n6, int part) {
  const int first = int(blockIdx.x) * LINES + (part * (LINES / 4) + int(threadIdx.x)) * VEC;
  const bool live = first < n3;
  const int line = live ? first : n3 - VEC;  // idle threads keep the barriers whole
  constexpr int ITEMS = (64 + THREADS - 1) / (THREADS);
  const int at2 = line % M;
  const int at0 = line / M;
  const float* X_0_line = X + size_t(at0) * n6 + at2;
  Pack<float, VEC> acc1;
  #pragma unroll
  for (int i = 0; i < VEC; ++i) acc1.at[i] = __int_as_float(0xff800000);
  Pack<float, VEC> X_0_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = item * THREADS + int(threadIdx.y);
    X_0_kept[item] = *reinterpret_cast<const Pack<float, VEC>*>(X_0_line + (column < N ? size_t(column) * M : 0));
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = item * THREADS + int(threadIdx.y);
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_kept[item].at[i];
      if (column < N) {
        acc1.at[i] = Larger()(acc1.at[i], float(v0));
      }
    }
  }
  for (int column = ITEMS * THREADS + int(threadIdx.y); column < N; column += THREADS) {
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_line[size_t(column) * M + i];
      acc1.at[i] = Larger()(acc1.at[i], float(v0));
    }
  }
  const Pack<float, VEC> v1 = reduce_column<THREADS, (LINES / 4)>(acc1, Each<Larger>());
  Pack<float, VEC> acc4;
  #pragma unroll
  for (int i = 0; i < VEC; ++i) acc4.at[i] = 0;
  Pack<float, VEC> k3[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = item * THREADS + int(threadIdx.y);
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_kept[item].at[i];
      const float v2 = v0 - v1.at[i];
      const float v3 = exp(v2);
      k3[item].at[i] = v3;
      if (column < N) {
        acc4.at[i] += v3;
      }
    }
  }
  for (int column = ITEMS * THREADS + int(threadIdx.y); column < N; column += THREADS) {
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_line[size_t(column) * M + i];
      const float v2 = v0 - v1.at[i];
      const float v3 = exp(v2);
      acc4.at[i] += v3;
    }
  }
  const Pack<float, VEC> v4 = reduce_column<THREADS, (LINES / 4)>(acc4, Each<Sum>());
  Pack<float, VEC> v5;
  #pragma unroll
  for (int i = 0; i < VEC; ++i) v5.at[i] = 1 / v4.at[i];
  float* out0_line = Y + size_t(at0) * n6 + at2;
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = item * THREADS + int(threadIdx.y);
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v3 = k3[item].at[i];
      const float v6 = v3 * v5.at[i];
      out0.at[i] = v6;
    }
    if (live && column < N) *reinterpret_cast<decltype(out0)*>(out0_line + (size_t(column) * M)) = out0;
  }
  for (int column = ITEMS * THREADS + int(threadIdx.y); column < N; column += THREADS) {
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_line[size_t(column) * M + i];
      const float v2 = v0 - v1.at[i];
      const float v3 = exp(v2);
      const float v6 = v3 * v5.at[i];
      out0.at[i] = v6;
    }
    if (live && column < N) *reinterpret_cast<decltype(out0)*>(out0_line + (size_t(column) * M)) = out0;
  }
}

__global__ void __launch_bounds__((LINES / 4) * THREADS) columns(const float* __restrict__ X, float* __restrict__ Y, int N, int n3, int M, int B, int n6) {
  if (M % 4 == 0 && n6 % 4 == 0) columns_body<4>(X, Y, N, n3, M, B, n6, 0);
  else
    for (int part = 0; part < 4; ++part) columns_body<1>(X, Y, N, n3, M, B, n6, part);
}
