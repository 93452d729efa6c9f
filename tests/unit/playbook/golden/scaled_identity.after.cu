//@ of      scaled_identity.before.cu sha256:9803d6f6dd27e304018864da8d60312fdd95a77bd148a4022b0cc716c856541f
//@ tune    ITEMS = 4 | 2 | 8
//@ tune    THREADS = 256 | 128 | 512
//@ launch  pointwise<<<ceil_div(N * M, ITEMS * THREADS * 4), THREADS>>>(W, Y, N * M)
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
__device__ __forceinline__ void pointwise_body(const float* __restrict__ W, float* __restrict__ Y, int n2) {
  constexpr int VEC = 4;
  constexpr int TILE = ITEMS * THREADS * VEC;
  const int start = int(blockIdx.x) * TILE + int(threadIdx.x) * VEC;
  const float* W_0_line = W;
  float* out0_line = Y;
  Pack<float, VEC> W_0_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS * VEC;
    W_0_kept[item] = load<WHOLE, VEC>(W_0_line + column, n2 - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS * VEC;
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = W_0_kept[item].at[i];
      const float v2 = v0 * 2.0f;
      out0.at[i] = v2;
    }
    store<WHOLE, VEC>(out0_line + column, out0, n2 - column);
  }
}

__global__ void __launch_bounds__(THREADS) pointwise(const float* __restrict__ W, float* __restrict__ Y, int n2) {
  if (n2 % 4 == 0) pointwise_body<true>(W, Y, n2);
  else pointwise_body<false>(W, Y, n2);
}
