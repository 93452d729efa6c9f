//@ of      half_slices.before.cu sha256:062e36840618a079f6a90f937c832ff1640b0336ed05161af451c4adc61d848c
//@ tune    ITEMS = 4 | 2 | 8
//@ tune    THREADS = 256 | 128 | 512
//@ tune    ITEMS_2 = 4
//@ tune    THREADS_2 = 256
//@ tune    ITEMS_3 = 4
//@ tune    THREADS_3 = 256
//@ scratch S: float32[N, M - M / 2 + M / 2]
//@ launch  pointwise<<<N * ceil_div(M - M / 2, ITEMS * THREADS * 4), THREADS>>>(X, S, M - M / 2, N, M)
//@ launch  pointwise_2<<<N * ceil_div(M / 2, ITEMS_2 * THREADS_2 * 4), THREADS_2>>>(X, S, M / 2, N, M)
//@ launch  pointwise_3<<<ceil_div(N * (M - M / 2 + M / 2), ITEMS_3 * THREADS_3 * 4), THREADS_3>>>(S, Y, N * (M - M / 2 + M / 2), M)
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
__device__ __forceinline__ void pointwise_body(const float* __restrict__ X, float* __restrict__ S, int n2, int N, int M) {
  constexpr int VEC = 4;
  constexpr int TILE = ITEMS * THREADS * VEC;
  const int chunks = (n2 + TILE - 1) / TILE;
  const int line = int(blockIdx.x / chunks);
  const int start = int(blockIdx.x % chunks) * TILE + int(threadIdx.x) * VEC;
  const float* X_0_line = X + n2 + size_t(line) * M;
  float* out0_line = S + size_t(line) * M;
  Pack<float, VEC> X_0_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS * VEC;
    X_0_kept[item] = load<WHOLE, VEC>(X_0_line + column, n2 - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS * VEC;
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_kept[item].at[i];
      const float v1 = -v0;
      out0.at[i] = v1;
    }
    store<WHOLE, VEC>(out0_line + column, out0, n2 - column);
  }
}

__global__ void __launch_bounds__(THREADS) pointwise(const float* __restrict__ X, float* __restrict__ S, int n2, int N, int M) {
  if (n2 % 4 == 0 && M % 4 == 0) pointwise_body<true>(X, S, n2, N, M);
  else pointwise_body<false>(X, S, n2, N, M);
}

template <bool WHOLE>
__device__ __forceinline__ void pointwise_2_body(const float* __restrict__ X, float* __restrict__ S, int n2, int N, int M) {
  constexpr int VEC = 4;
  constexpr int TILE = ITEMS_2 * THREADS_2 * VEC;
  const int chunks = (n2 + TILE - 1) / TILE;
  const int line = int(blockIdx.x / chunks);
  const int start = int(blockIdx.x % chunks) * TILE + int(threadIdx.x) * VEC;
  const float* X_0_line = X + size_t(line) * M;
  float* out0_line = S + n2 + size_t(line) * M;
  Pack<float, VEC> X_0_kept[ITEMS_2];
  #pragma unroll
  for (int item = 0; item < ITEMS_2; ++item) {
    const int column = start + item * THREADS_2 * VEC;
    X_0_kept[item] = load<WHOLE, VEC>(X_0_line + column, n2 - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS_2; ++item) {
    const int column = start + item * THREADS_2 * VEC;
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_kept[item].at[i];
      out0.at[i] = v0;
    }
    store<WHOLE, VEC>(out0_line + column, out0, n2 - column);
  }
}

__global__ void __launch_bounds__(THREADS_2) pointwise_2(const float* __restrict__ X, float* __restrict__ S, int n2, int N, int M) {
  if (n2 % 4 == 0 && M % 4 == 0) pointwise_2_body<true>(X, S, n2, N, M);
  else pointwise_2_body<false>(X, S, n2, N, M);
}

template <bool WHOLE>
__device__ __forceinline__ void pointwise_3_body(const float* __restrict__ S, float* __restrict__ Y, int n2, long long M) {
  constexpr int VEC = 4;
  constexpr int TILE = ITEMS_3 * THREADS_3 * VEC;
  const int start = int(blockIdx.x) * TILE + int(threadIdx.x) * VEC;
  const float* S_0_line = S;
  float* out0_line = Y;
  Pack<float, VEC> S_0_kept[ITEMS_3];
  #pragma unroll
  for (int item = 0; item < ITEMS_3; ++item) {
    const int column = start + item * THREADS_3 * VEC;
    S_0_kept[item] = load<WHOLE, VEC>(S_0_line + column, n2 - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS_3; ++item) {
    const int column = start + item * THREADS_3 * VEC;
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = S_0_kept[item].at[i];
      const float v2 = v0 * float((pow(float(M), -0.5f)));
      out0.at[i] = v2;
    }
    store<WHOLE, VEC>(out0_line + column, out0, n2 - column);
  }
}

__global__ void __launch_bounds__(THREADS_3) pointwise_3(const float* __restrict__ S, float* __restrict__ Y, int n2, long long M) {
  if (n2 % 4 == 0) pointwise_3_body<true>(S, Y, n2, M);
  else pointwise_3_body<false>(S, Y, n2, M);
}
