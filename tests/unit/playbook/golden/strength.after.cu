//@ of      strength.before.cu sha256:7d1a878bdaed2eceee207f56abfb0fe2b3641733bbbf1340dd62bbd340cb2fe8
//@ tune    ITEMS = 4 | 2 | 8
//@ tune    THREADS = 256 | 128 | 512
//@ launch  pointwise<<<N * ceil_div(M, ITEMS * THREADS * 4), THREADS>>>(X, V, Y, M, N)
// playbook: strength/fused

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
__device__ __forceinline__ void pointwise_body(const float* __restrict__ X, const float* __restrict__ V, float* __restrict__ Y, int M, int N) {
  constexpr int VEC = 4;
  constexpr int TILE = ITEMS * THREADS * VEC;
  const int chunks = (M + TILE - 1) / TILE;
  const int line = int(blockIdx.x / chunks);
  const int start = int(blockIdx.x % chunks) * TILE + int(threadIdx.x) * VEC;
  const float* X_0_line = X + size_t(line) * M;
  const float* V_1_line = V;
  float* out0_line = Y + size_t(line) * M;
  Pack<float, VEC> X_0_kept[ITEMS];
  Pack<float, VEC> V_1_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS * VEC;
    X_0_kept[item] = load<WHOLE, VEC>(X_0_line + column, M - column);
    V_1_kept[item] = load<WHOLE, VEC>(V_1_line + column, M - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS * VEC;
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_kept[item].at[i];
      const float v1 = V_1_kept[item].at[i];
      const float v2 = rsqrt(v1);
      const float v3 = v0 * v2;
      const float v5 = v3 * 0.25f;
      out0.at[i] = v5;
    }
    store<WHOLE, VEC>(out0_line + column, out0, M - column);
  }
}

__global__ void __launch_bounds__(THREADS) pointwise(const float* __restrict__ X, const float* __restrict__ V, float* __restrict__ Y, int M, int N) {
  if (M % 4 == 0) pointwise_body<true>(X, V, Y, M, N);
  else pointwise_body<false>(X, V, Y, M, N);
}
