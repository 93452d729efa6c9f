//@ of      cat.before.cu sha256:d0fd167bef0219309ea908e3399367d4d2d01af45e693bed129baf9bb0436554
//@ tune    ITEMS = 4 | 2 | 8
//@ tune    THREADS = 256 | 128 | 512
//@ tune    ITEMS_2 = 4
//@ tune    THREADS_2 = 256
//@ launch  pointwise<<<N * ceil_div(M, ITEMS * THREADS * 4), THREADS>>>(X, Y, M, N, M + K)
//@ launch  pointwise_2<<<N * ceil_div(K, ITEMS_2 * THREADS_2 * 4), THREADS_2>>>(Z, Y, K, N, M, M + K)
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

template <bool WHOLE>
__device__ __forceinline__ void pointwise_body(const float* __restrict__ X, float* __restrict__ Y, int M, int N, int n4) {
  constexpr int VEC = 4;
  constexpr int TILE = ITEMS * THREADS * VEC;
  const int chunks = (M + TILE - 1) / TILE;
  const int line = int(blockIdx.x / chunks);
  const int start = int(blockIdx.x % chunks) * TILE + int(threadIdx.x) * VEC;
  const float* X_0_line = X + size_t(line) * M;
  float* out0_line = Y + size_t(line) * n4;
  Pack<float, VEC> X_0_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS * VEC;
    X_0_kept[item] = load<WHOLE, VEC>(X_0_line + column, M - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS * VEC;
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_kept[item].at[i];
      const float v1 = v0 < 0 ? 0 : v0;
      out0.at[i] = v1;
    }
    store<WHOLE, VEC>(out0_line + column, out0, M - column);
  }
}

__global__ void __launch_bounds__(THREADS) pointwise(const float* __restrict__ X, float* __restrict__ Y, int M, int N, int n4) {
  if (M % 4 == 0 && n4 % 4 == 0) pointwise_body<true>(X, Y, M, N, n4);
  else pointwise_body<false>(X, Y, M, N, n4);
}

template <bool WHOLE>
__device__ __forceinline__ void pointwise_2_body(const float* __restrict__ Z, float* __restrict__ Y, int K, int N, int M, int n5) {
  constexpr int VEC = 4;
  constexpr int TILE = ITEMS_2 * THREADS_2 * VEC;
  const int chunks = (K + TILE - 1) / TILE;
  const int line = int(blockIdx.x / chunks);
  const int start = int(blockIdx.x % chunks) * TILE + int(threadIdx.x) * VEC;
  const float* Z_0_line = Z + size_t(line) * K;
  float* out0_line = Y + M + size_t(line) * n5;
  Pack<float, VEC> Z_0_kept[ITEMS_2];
  #pragma unroll
  for (int item = 0; item < ITEMS_2; ++item) {
    const int column = start + item * THREADS_2 * VEC;
    Z_0_kept[item] = load<WHOLE, VEC>(Z_0_line + column, K - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS_2; ++item) {
    const int column = start + item * THREADS_2 * VEC;
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = Z_0_kept[item].at[i];
      out0.at[i] = v0;
    }
    store<WHOLE, VEC>(out0_line + column, out0, K - column);
  }
}

__global__ void __launch_bounds__(THREADS_2) pointwise_2(const float* __restrict__ Z, float* __restrict__ Y, int K, int N, int M, int n5) {
  if (K % 4 == 0 && M % 4 == 0 && n5 % 4 == 0) pointwise_2_body<true>(Z, Y, K, N, M, n5);
  else pointwise_2_body<false>(Z, Y, K, N, M, n5);
}
