//@ of      pointwise.before.cu sha256:9f3da1b49116f3f203bfcc8d146adfa742d9482318f399af3aba04cc2fbd4eb5
//@ tune    ITEMS = 4 | 2 | 8
//@ tune    THREADS = 256 | 128 | 512
//@ launch  pointwise<<<N * ceil_div(M, ITEMS * THREADS * 4), THREADS>>>(X, bias, Y, M, N, alpha)
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
__device__ __forceinline__ void pointwise_body(const float* __restrict__ X, const float* __restrict__ bias, float* __restrict__ Y, int M, int N, float alpha) {
  constexpr int VEC = 4;
  constexpr int TILE = ITEMS * THREADS * VEC;
  const int chunks = (M + TILE - 1) / TILE;
  const int line = int(blockIdx.x / chunks);
  const int start = int(blockIdx.x % chunks) * TILE + int(threadIdx.x) * VEC;
  const float* X_0_line = X + size_t(line) * M;
  const float* bias_1_line = bias;
  float* out0_line = Y + size_t(line) * M;
  Pack<float, VEC> X_0_kept[ITEMS];
  Pack<float, VEC> bias_1_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS * VEC;
    X_0_kept[item] = load<WHOLE, VEC>(X_0_line + column, M - column);
    bias_1_kept[item] = load<WHOLE, VEC>(bias_1_line + column, M - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS * VEC;
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_kept[item].at[i];
      const float v1 = bias_1_kept[item].at[i];
      const float v2 = v0 + v1;
      const float v3 = decltype(v2)(0.5) * v2 * (1 + erf(v2 * decltype(v2)(0.70710678118654752)));
      const float v5 = v3 * float(float(alpha));
      out0.at[i] = v5;
    }
    store<WHOLE, VEC>(out0_line + column, out0, M - column);
  }
}

__global__ void __launch_bounds__(THREADS) pointwise(const float* __restrict__ X, const float* __restrict__ bias, float* __restrict__ Y, int M, int N, float alpha) {
  if (M % 4 == 0) pointwise_body<true>(X, bias, Y, M, N, alpha);
  else pointwise_body<false>(X, bias, Y, M, N, alpha);
}
