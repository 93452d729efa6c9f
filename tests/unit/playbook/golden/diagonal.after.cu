//@ of      diagonal.before.cu sha256:7ed4a001582914ced4f492489b9e52500d6f545a6be7d4ec4196ca705be6bce6
//@ tune    ITEMS = 4 | 2 | 8
//@ tune    THREADS = 256 | 128 | 512
//@ launch  pointwise<<<N * ceil_div(M, ITEMS * THREADS * 4), THREADS>>>(A, B, C, M, N)
// playbook: diagonal/fused

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
__device__ __forceinline__ void pointwise_body(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N) {
  constexpr int VEC = 4;
  constexpr int TILE = ITEMS * THREADS * VEC;
  const int chunks = (M + TILE - 1) / TILE;
  const int line = int(blockIdx.x / chunks);
  const int start = int(blockIdx.x % chunks) * TILE + int(threadIdx.x) * VEC;
  const float A_0 = float(A[line]);
  const float* B_1_line = B + size_t(line) * M;
  float* out0_line = C + size_t(line) * M;
  Pack<float, VEC> B_1_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS * VEC;
    B_1_kept[item] = load<WHOLE, VEC>(B_1_line + column, M - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS * VEC;
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v1 = B_1_kept[item].at[i];
      const float v2 = A_0 * v1;
      out0.at[i] = v2;
    }
    store<WHOLE, VEC>(out0_line + column, out0, M - column);
  }
}

__global__ void __launch_bounds__(THREADS) pointwise(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N) {
  if (M % 4 == 0) pointwise_body<true>(A, B, C, M, N);
  else pointwise_body<false>(A, B, C, M, N);
}
