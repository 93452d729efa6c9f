//@ of      padded.before.cu sha256:2c223f1ec64f53d4e82128e0c7120eff1e6d9a3365fd0d99a7b6be6b0d71ba72
//@ tune    ITEMS = 4 | 2 | 8
//@ tune    THREADS = 256 | 128 | 512
//@ tune    ITEMS_2 = 4
//@ tune    THREADS_2 = 256
//@ tune    THREADS_3 = 1
//@ tune    ITEMS_3 = 4
//@ tune    THREADS_4 = 256
//@ tune    THREADS_5 = 4
//@ tune    ITEMS_4 = 4
//@ tune    THREADS_6 = 256
//@ scratch S: float32[N, (1 + M) + 2]
//@ scratch S_2: float32[N, M + 3]
//@ launch  pointwise<<<ceil_div(N, ITEMS * THREADS), THREADS>>>(X, S, N, M, (1 + M) + 2)
//@ launch  pointwise_2<<<N * ceil_div(M, ITEMS_2 * THREADS_2 * 4), THREADS_2>>>(X, S, M, N, (1 + M) + 2)
//@ launch  pointwise_3<<<ceil_div(N, 256 / THREADS_3) * ceil_div(2, 1 * THREADS_3 * 2), dim3(THREADS_3, 256 / THREADS_3)>>>(X, S, N, M - 2, M, 1 + M, (1 + M) + 2)
//@ launch  pointwise_4<<<N * ceil_div(M, ITEMS_3 * THREADS_4 * 4), THREADS_4>>>(X, S_2, M, N, M + 3)
//@ launch  pointwise_5<<<ceil_div(N, 256 / THREADS_5) * ceil_div(3, 1 * THREADS_5), dim3(THREADS_5, 256 / THREADS_5)>>>(S_2, N, M, M + 3)
//@ launch  pointwise_6<<<ceil_div(N * (M + 3), ITEMS_4 * THREADS_6 * 4), THREADS_6>>>(S, S_2, Y, N * (M + 3))
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

__global__ void __launch_bounds__(THREADS) pointwise(const float* __restrict__ X, float* __restrict__ S, int N, int M, int n4) {
  constexpr int VEC = 1;
  constexpr int TILE = ITEMS * THREADS * VEC;
  const int start = int(blockIdx.x) * TILE + int(threadIdx.x) * VEC;
  const float* X_0_line = X + 1;
  float* out0_line = S;
  Pack<float, VEC> X_0_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i)
      if (column + i < N) X_0_kept[item].at[i] = X_0_line[size_t((column + i)) * M];
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS * VEC;
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_kept[item].at[i];
      out0.at[i] = v0;
    }
    #pragma unroll
    for (int i = 0; i < VEC; ++i)
      if (column + i < N) out0_line[size_t((column + i)) * n4] = out0.at[i];
  }
}

template <bool WHOLE>
__device__ __forceinline__ void pointwise_2_body(const float* __restrict__ X, float* __restrict__ S, int M, int N, int n4) {
  constexpr int VEC = 4;
  constexpr int TILE = ITEMS_2 * THREADS_2 * VEC;
  const int chunks = (M + TILE - 1) / TILE;
  const int line = int(blockIdx.x / chunks);
  const int start = int(blockIdx.x % chunks) * TILE + int(threadIdx.x) * VEC;
  const float* X_0_line = X + size_t(line) * M;
  float* out0_line = S + 1 + size_t(line) * n4;
  Pack<float, VEC> X_0_kept[ITEMS_2];
  #pragma unroll
  for (int item = 0; item < ITEMS_2; ++item) {
    const int column = start + item * THREADS_2 * VEC;
    X_0_kept[item] = load<WHOLE, VEC>(X_0_line + column, M - column);
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
    store<WHOLE, VEC>(out0_line + column, out0, M - column);
  }
}

__global__ void __launch_bounds__(THREADS_2) pointwise_2(const float* __restrict__ X, float* __restrict__ S, int M, int N, int n4) {
  if (M % 4 == 0 && 1 % 4 == 0 && n4 % 4 == 0) pointwise_2_body<true>(X, S, M, N, n4);
  else pointwise_2_body<false>(X, S, M, N, n4);
}

template <bool WHOLE>
__device__ __forceinline__ void pointwise_3_body(const float* __restrict__ X, float* __restrict__ S, int N, int n3, int M, int n5, int n6) {
  constexpr int VEC = 2;
  constexpr int ITEMS = 1;
  constexpr int ROWS = 256 / THREADS_3;
  constexpr int TILE = ITEMS * THREADS_3 * VEC;
  const int chunks = (2 + TILE - 1) / TILE;
  const int line = int(blockIdx.x / chunks) * ROWS + threadIdx.y;
  if (line >= N) return;
  const int start = int(blockIdx.x % chunks) * TILE + int(threadIdx.x) * VEC;
  const float* X_0_line = X + n3 + size_t(line) * M;
  float* out0_line = S + n5 + size_t(line) * n6;
  Pack<float, VEC> X_0_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS_3 * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i)
      if (column + i < 2) X_0_kept[item].at[i] = X_0_line[size_t((column + i)) * -1];
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS_3 * VEC;
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_kept[item].at[i];
      out0.at[i] = v0;
    }
    store<WHOLE, VEC>(out0_line + column, out0, 2 - column);
  }
}

__global__ void __launch_bounds__((THREADS_3 < 256 ? 256 : THREADS_3)) pointwise_3(const float* __restrict__ X, float* __restrict__ S, int N, int n3, int M, int n5, int n6) {
  if (2 % 2 == 0 && n5 % 2 == 0 && n6 % 2 == 0) pointwise_3_body<true>(X, S, N, n3, M, n5, n6);
  else pointwise_3_body<false>(X, S, N, n3, M, n5, n6);
}

template <bool WHOLE>
__device__ __forceinline__ void pointwise_4_body(const float* __restrict__ X, float* __restrict__ S_2, int M, int N, int n4) {
  constexpr int VEC = 4;
  constexpr int TILE = ITEMS_3 * THREADS_4 * VEC;
  const int chunks = (M + TILE - 1) / TILE;
  const int line = int(blockIdx.x / chunks);
  const int start = int(blockIdx.x % chunks) * TILE + int(threadIdx.x) * VEC;
  const float* X_0_line = X + size_t(line) * M;
  float* out0_line = S_2 + size_t(line) * n4;
  Pack<float, VEC> X_0_kept[ITEMS_3];
  #pragma unroll
  for (int item = 0; item < ITEMS_3; ++item) {
    const int column = start + item * THREADS_4 * VEC;
    X_0_kept[item] = load<WHOLE, VEC>(X_0_line + column, M - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS_3; ++item) {
    const int column = start + item * THREADS_4 * VEC;
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_kept[item].at[i];
      out0.at[i] = v0;
    }
    store<WHOLE, VEC>(out0_line + column, out0, M - column);
  }
}

__global__ void __launch_bounds__(THREADS_4) pointwise_4(const float* __restrict__ X, float* __restrict__ S_2, int M, int N, int n4) {
  if (M % 4 == 0 && n4 % 4 == 0) pointwise_4_body<true>(X, S_2, M, N, n4);
  else pointwise_4_body<false>(X, S_2, M, N, n4);
}

__global__ void __launch_bounds__((THREADS_5 < 256 ? 256 : THREADS_5)) pointwise_5(float* __restrict__ S_2, int N, int M, int n3) {
  constexpr int VEC = 1;
  constexpr int ITEMS = 1;
  constexpr int ROWS = 256 / THREADS_5;
  constexpr int TILE = ITEMS * THREADS_5 * VEC;
  const int chunks = (3 + TILE - 1) / TILE;
  const int line = int(blockIdx.x / chunks) * ROWS + threadIdx.y;
  if (line >= N) return;
  const int start = int(blockIdx.x % chunks) * TILE + int(threadIdx.x) * VEC;
  const float v1 = 0.5f;
  float* out0_line = S_2 + M + size_t(line) * n3;
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS_5 * VEC;
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      out0.at[i] = v1;
    }
    store<false, VEC>(out0_line + column, out0, 3 - column);
  }
}

template <bool WHOLE>
__device__ __forceinline__ void pointwise_6_body(const float* __restrict__ S, const float* __restrict__ S_2, float* __restrict__ Y, int n3) {
  constexpr int VEC = 4;
  constexpr int TILE = ITEMS_4 * THREADS_6 * VEC;
  const int start = int(blockIdx.x) * TILE + int(threadIdx.x) * VEC;
  const float* S_0_line = S;
  const float* S_2_1_line = S_2;
  float* out0_line = Y;
  Pack<float, VEC> S_0_kept[ITEMS_4];
  Pack<float, VEC> S_2_1_kept[ITEMS_4];
  #pragma unroll
  for (int item = 0; item < ITEMS_4; ++item) {
    const int column = start + item * THREADS_6 * VEC;
    S_0_kept[item] = load<WHOLE, VEC>(S_0_line + column, n3 - column);
    S_2_1_kept[item] = load<WHOLE, VEC>(S_2_1_line + column, n3 - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS_4; ++item) {
    const int column = start + item * THREADS_6 * VEC;
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = S_0_kept[item].at[i];
      const float v1 = S_2_1_kept[item].at[i];
      const float v2 = v0 + v1;
      out0.at[i] = v2;
    }
    store<WHOLE, VEC>(out0_line + column, out0, n3 - column);
  }
}

__global__ void __launch_bounds__(THREADS_6) pointwise_6(const float* __restrict__ S, const float* __restrict__ S_2, float* __restrict__ Y, int n3) {
  if (n3 % 4 == 0) pointwise_6_body<true>(S, S_2, Y, n3);
  else pointwise_6_body<false>(S, S_2, Y, n3);
}
