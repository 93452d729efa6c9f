//@ of      shift.before.cu sha256:144749075f3444365d81b7ed2cec13515e0b686e3861443c0c30ba9406b33a92
//@ tune    THREADS = 256 | 128 | 64 | 32
//@ launch  rows<<<ceil_div(N, max(1, 256 / THREADS)), dim3(THREADS, max(1, 256 / THREADS))>>>(X, Y, M, N)
// playbook: shift/fused

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
__device__ __forceinline__ void rows_body(const float* __restrict__ X, float* __restrict__ Y, int M, int N) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS < 256 ? 256 / THREADS : 1;
  constexpr int ITEMS = (1024 + THREADS * VEC - 1) / (THREADS * VEC);
  const int first = int(blockIdx.x) * ROWS + threadIdx.y;
  const bool live = first < N;
  const int line = live ? first : N - 1;  // idle threads keep the barriers whole
  const float* X_0_line = X + size_t(line) * M;
  float acc1 = __int_as_float(0xff800000);
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
      if (column + (WHOLE ? 0 : i) < M) {
        acc1 = Larger()(acc1, float(v0));
      }
    }
  }
  for (int column = (ITEMS * THREADS + int(threadIdx.x)) * VEC; column < M; column += THREADS * VEC) {
    Pack<float, VEC> X_0_pack = {};
    X_0_pack = load<WHOLE, VEC>(X_0_line + column, M - column);
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_pack.at[i];
      if (column + (WHOLE ? 0 : i) < M) {
        acc1 = Larger()(acc1, float(v0));
      }
    }
  }
  const float v1 = reduce_row<THREADS, ROWS>(acc1, Larger());
  float acc4 = 0;
  Pack<float, VEC> k3[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_kept[item].at[i];
      const float v2 = v0 - v1;
      const float v3 = exp(v2);
      k3[item].at[i] = v3;
      if (column + (WHOLE ? 0 : i) < M) {
        acc4 += v3;
      }
    }
  }
  for (int column = (ITEMS * THREADS + int(threadIdx.x)) * VEC; column < M; column += THREADS * VEC) {
    Pack<float, VEC> X_0_pack = {};
    X_0_pack = load<WHOLE, VEC>(X_0_line + column, M - column);
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_pack.at[i];
      const float v2 = v0 - v1;
      const float v3 = exp(v2);
      if (column + (WHOLE ? 0 : i) < M) {
        acc4 += v3;
      }
    }
  }
  const float v4 = reduce_row<THREADS, ROWS>(acc4, Sum());
  const float v5 = 1 / v4;
  float* out0_line = Y + size_t(line) * M;
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v3 = k3[item].at[i];
      const float v6 = v3 * v5;
      out0.at[i] = v6;
    }
    if (live) store<WHOLE, VEC>(out0_line + column, out0, M - column);
  }
  for (int column = (ITEMS * THREADS + int(threadIdx.x)) * VEC; column < M; column += THREADS * VEC) {
    Pack<float, VEC> X_0_pack = {};
    X_0_pack = load<WHOLE, VEC>(X_0_line + column, M - column);
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_pack.at[i];
      const float v2 = v0 - v1;
      const float v3 = exp(v2);
      const float v6 = v3 * v5;
      out0.at[i] = v6;
    }
    if (live) store<WHOLE, VEC>(out0_line + column, out0, M - column);
  }
}

__global__ void __launch_bounds__((THREADS < 256 ? 256 : THREADS)) rows(const float* __restrict__ X, float* __restrict__ Y, int M, int N) {
  if (M % 4 == 0) rows_body<true>(X, Y, M, N);
  else rows_body<false>(X, Y, M, N);
}
