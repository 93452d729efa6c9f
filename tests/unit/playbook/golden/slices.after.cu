//@ of      slices.before.cu sha256:607c963492d1cf1f6cbf35cd625cb34fc27cc940a20d801af026a7fef3c693ae
//@ tune    ITEMS = 4 | 2 | 8
//@ tune    THREADS = 256 | 128 | 512
//@ launch  pointwise<<<N * ceil_div(M - 1, ITEMS * THREADS), THREADS>>>(X, Y, M - 1, N, M)
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

__global__ void __launch_bounds__(THREADS) pointwise(const float* __restrict__ X, float* __restrict__ Y, int n2, int N, int M) {
  constexpr int VEC = 1;
  constexpr int TILE = ITEMS * THREADS * VEC;
  const int chunks = (n2 + TILE - 1) / TILE;
  const int line = int(blockIdx.x / chunks);
  const int start = int(blockIdx.x % chunks) * TILE + int(threadIdx.x) * VEC;
  const float* X_0_line = X + 1 + size_t(line) * M;
  const float* X_1_line = X + size_t(line) * M;
  float* out0_line = Y + size_t(line) * n2;
  Pack<float, VEC> X_0_kept[ITEMS];
  Pack<float, VEC> X_1_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS * VEC;
    X_0_kept[item] = load<false, VEC>(X_0_line + column, n2 - column);
    X_1_kept[item] = load<false, VEC>(X_1_line + column, n2 - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS * VEC;
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_kept[item].at[i];
      const float v1 = X_1_kept[item].at[i];
      const float v2 = v0 * v1;
      out0.at[i] = v2;
    }
    store<false, VEC>(out0_line + column, out0, n2 - column);
  }
}
