//@ of      scan.before.cu sha256:7e81e62f80008599ff203c01cb84dd88deb2aa4b718e61fec56d6715b6d19e0c
//@ tune    THREADS = 256 | 512 | 128 | 1024
//@ launch  scan<<<N, THREADS>>>(X, Y, M, N)
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
__device__ __forceinline__ void scan_body(const float* __restrict__ X, float* __restrict__ Y, int M, int N) {
  // A row passes in pieces; every thread scans four neighbours, the warps their totals, and the carry goes on.
  __shared__ float part[THREADS / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int at0 = blockIdx.x;
  const float* x0 = X + size_t(at0) * M;
  float carry = 0;
  for (int start = 0; start < M; start += THREADS * 4) {
    const int from = start + threadIdx.x * 4, left = M - from;
    float value[4];
    if (WHOLE) {
      const Pack<float, 4> pack0 = load<true, 4>(x0 + from, left);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int item = i, along = from + item;
        const float v0 = float(pack0.at[item]);
        value[i] = v0;
      }
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        value[i] = 0;
        if (i >= left) continue;
        const int along = from + i;
        const float v0 = float(x0[along]);
        value[i] = v0;
      }
    }
#pragma unroll
    for (int i = 1; i < 4; ++i) value[i] += value[i - 1];
    float total = value[3];
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
      const float before = __shfl_up_sync(0xffffffffu, total, offset);
      if (lane >= offset) total += before;
    }
    __syncthreads();
    if (lane == 31) part[warp] = total;
    __syncthreads();
    float before = __shfl_up_sync(0xffffffffu, total, 1);
    if (lane == 0) before = 0;
    before += carry;
    for (int other = 0; other < THREADS / 32; ++other) {
      if (other < warp) before += part[other];
      carry += part[other];
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) value[i] += before;
    if (WHOLE) {
      if (left <= 0) continue;
      Pack<float, 4> out;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int item = i, along = from + item;
        const float produced = value[i];
        const float v2 = 2.0f * produced;
        out.at[item] = v2;
      }
      const int along = from;
      store<true, 4>(Y + size_t(at0) * M + along, out, left);
      continue;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i >= left) break;
      const int along = from + i;
      const float produced = value[i];
      const float v2 = 2.0f * produced;
      Y[size_t(at0) * M + along] = v2;
    }
  }
}

__global__ void __launch_bounds__(THREADS) scan(const float* __restrict__ X, float* __restrict__ Y, int M, int N) {
  if (M % 4 == 0) scan_body<true>(X, Y, M, N);
  else scan_body<false>(X, Y, M, N);
}
