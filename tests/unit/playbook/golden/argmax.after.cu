//@ of      argmax.before.cu sha256:3ac7f6abd17d5dca865197cb12ddb0133d2571434a8e02ef1fad3ee0be0243c6
//@ tune    THREADS = 256 | 128 | 64 | 32
//@ launch  rows<<<ceil_div(N, max(1, 256 / THREADS)), dim3(THREADS, max(1, 256 / THREADS))>>>(X, I, M, N)
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

// A value and where it stands; of equal values the first counts. take() is for the elements that one thread sees, in
// their order.
template <typename T, typename Index>
struct Found {
  T value;
  Index index;
};
struct FirstLarger {
  template <typename T, typename Index>
  __device__ Found<T, Index> operator()(Found<T, Index> a, Found<T, Index> b) const {
    const bool nan_a = a.value != a.value, nan_b = b.value != b.value;
    const bool equal = a.value == b.value || (nan_a && nan_b);
    const bool first = equal ? a.index < b.index : nan_a || (!nan_b && a.value > b.value);
    return first ? a : b;
  }
  template <typename T, typename Index>
  __device__ static void take(Found<T, Index>& best, T value, Index index) {
    if (value > best.value || (value != value && best.value == best.value)) best = {value, index};
  }
};
struct FirstSmaller {
  template <typename T, typename Index>
  __device__ Found<T, Index> operator()(Found<T, Index> a, Found<T, Index> b) const {
    const bool nan_a = a.value != a.value, nan_b = b.value != b.value;
    const bool equal = a.value == b.value || (nan_a && nan_b);
    const bool first = equal ? a.index < b.index : nan_a || (!nan_b && a.value < b.value);
    return first ? a : b;
  }
  template <typename T, typename Index>
  __device__ static void take(Found<T, Index>& best, T value, Index index) {
    if (value < best.value || (value != value && best.value == best.value)) best = {value, index};
  }
};
template <typename T, typename Index>
__device__ Found<T, Index> exchange(Found<T, Index> found, int offset) {
  return {exchange(found.value, offset), exchange(found.index, offset)};
}

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
__device__ __forceinline__ void rows_body(const float* __restrict__ X, long long* __restrict__ I, int M, int N) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS < 256 ? 256 / THREADS : 1;
  constexpr int ITEMS = (1024 + THREADS * VEC - 1) / (THREADS * VEC);
  const int first = int(blockIdx.x) * ROWS + threadIdx.y;
  const bool live = first < N;
  const int line = live ? first : N - 1;  // idle threads keep the barriers whole
  const float* X_0_line = X + size_t(line) * M;
  Found<float, int> acc1 = {__int_as_float(0xff800000), int(threadIdx.x * VEC)};  // where all are as low, its first counts
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
        FirstLarger::take(acc1, v0, int(column + i));
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
        FirstLarger::take(acc1, v0, int(column + i));
      }
    }
  }
  const long long v1 = reduce_row<THREADS, ROWS>(acc1, FirstLarger()).index;
  if (live && threadIdx.x == 0) I[line] = v1;
}

__global__ void __launch_bounds__((THREADS < 256 ? 256 : THREADS)) rows(const float* __restrict__ X, long long* __restrict__ I, int M, int N) {
  if (M % 4 == 0) rows_body<true>(X, I, M, N);
  else rows_body<false>(X, I, M, N);
}
