//@ of      integer_quotients.before.cu sha256:ee7825c02dde37de3a5c3979b64de11ba0c2095d6885d4f7fb922746e37c4cec
//@ tune    ITEMS = 4 | 2 | 8
//@ tune    THREADS = 256 | 128 | 512
//@ launch  pointwise<<<ceil_div(N * M, ITEMS * THREADS * 2), THREADS>>>(A, B, Y, N * M)
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
__device__ __forceinline__ void pointwise_body(const long long* __restrict__ A, const long long* __restrict__ B, long long* __restrict__ Y, int n3) {
  constexpr int VEC = 2;
  constexpr int TILE = ITEMS * THREADS * VEC;
  const int start = int(blockIdx.x) * TILE + int(threadIdx.x) * VEC;
  const long long* A_0_line = A;
  const long long* B_1_line = B;
  long long* out0_line = Y;
  Pack<long long, VEC> A_0_kept[ITEMS];
  Pack<long long, VEC> B_1_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS * VEC;
    A_0_kept[item] = load<WHOLE, VEC>(A_0_line + column, n3 - column);
    B_1_kept[item] = load<WHOLE, VEC>(B_1_line + column, n3 - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS * VEC;
    Pack<long long, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const long long v0 = A_0_kept[item].at[i];
      const long long v1 = B_1_kept[item].at[i];
      const long long v2 = v0 / (v1 == 0 ? 1 : v1) - (v0 % (v1 == 0 ? 1 : v1) != 0 && (v0 < 0) != (v1 < 0) ? 1 : 0);
      const long long v3 = v0 % (v1 == 0 ? 1 : v1) + (v0 % (v1 == 0 ? 1 : v1) != 0 && (v0 < 0) != (v1 < 0) ? v1 : 0);
      const long long v4 = v2 + v3;
      out0.at[i] = v4;
    }
    store<WHOLE, VEC>(out0_line + column, out0, n3 - column);
  }
}

__global__ void __launch_bounds__(THREADS) pointwise(const long long* __restrict__ A, const long long* __restrict__ B, long long* __restrict__ Y, int n3) {
  if (n3 % 2 == 0) pointwise_body<true>(A, B, Y, n3);
  else pointwise_body<false>(A, B, Y, n3);
}
