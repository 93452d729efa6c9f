//@ of      meeting_softmax.before.cu sha256:34454b447676cfa2c76adc5d4af0c72e266059734b44a54d77a63c107d08f11c
//@ tune    TEAM = 16 | 8 | 4
//@ tune    THREADS = 256 | 512 if 32768 <= TEAM * THREADS * 16
//@ tune    BLOCKS = 512 | 256 | 128 if BLOCKS * 32768 <= TEAM * 1048576 && 2 * BLOCKS * 32768 > TEAM * 1048576 && BLOCKS * THREADS <= 131072
//@ scratch parts: int64[N * TEAM] = 0
//@ launch  rows<<<BLOCKS / TEAM * TEAM, THREADS>>>(X, Y, M, N, parts) cooperative
// playbook: as written/teams that meet once

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

template <typename T>
__device__ __forceinline__ T exchange(T value, int offset) {
  return __shfl_xor_sync(0xffffffffu, value, offset);
}

struct Sum {
  template <typename T> __device__ T operator()(T a, T b) const { return a + b; }
};
struct Product {
  template <typename T> __device__ T operator()(T a, T b) const { return a * b; }
};
// Of a NaN and a number the NaN wins, as in torch.
struct Larger {
  template <typename T> __device__ T operator()(T a, T b) const { return a > b || a != a ? a : b; }
};
struct Smaller {
  template <typename T> __device__ T operator()(T a, T b) const { return a < b || a != a ? a : b; }
};

// The values of one row's THREADS threads, combined; every thread gets the result.
template <int THREADS, int ROWS, typename T, typename Combine>
__device__ T reduce_row(T value, Combine combine) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value = combine(value, exchange(value, offset));
  if constexpr (THREADS > 32) {
    __shared__ T partial[ROWS][THREADS / 32];
    __syncthreads();
    if (threadIdx.x % 32 == 0) partial[threadIdx.y][threadIdx.x / 32] = value;
    __syncthreads();
    value = partial[threadIdx.y][0];
#pragma unroll
    for (int warp = 1; warp < THREADS / 32; ++warp) value = combine(value, partial[threadIdx.y][warp]);
  }
  return value;
}

// Two values of a line from each block of a team, in one word, so that all is waited for at once. `parts` are zero at
// first; the second value is never negative: its sign says that a part is there.
__device__ __forceinline__ void give(float first, float second, long long* parts, int rank) {
  volatile long long* slots = parts;
  const unsigned long long there = __float_as_uint(second) | 0x80000000u;
  if (threadIdx.x == 0) slots[rank] = static_cast<long long>(there << 32 | __float_as_uint(first));
}
template <int TEAM>
struct Parts {
  static constexpr int LANES = TEAM < 32 ? TEAM : 32, EACH = TEAM / LANES;
  float first[EACH], second[EACH];
  __device__ explicit Parts(const long long* parts) {
    const volatile long long* slots = parts;
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
      long long part;
      do part = slots[i * LANES + threadIdx.x % LANES];
      while (part == 0);
      first[i] = __uint_as_float(unsigned(part));
      second[i] = __uint_as_float(unsigned(part >> 32) & 0x7fffffffu);
    }
    __syncwarp();
  }
  // Of all lanes, in the order of the blocks.
  template <typename Combine>
  __device__ static float over_lanes(float value, Combine combine) {
#pragma unroll
    for (int offset = LANES / 2; offset > 0; offset /= 2) value = combine(value, exchange(value, offset));
    return value;
  }
};

// The largest of a line, and the sum of the exponentials of what its elements are above it, from the same of each block.
template <int TEAM>
__device__ float2 take_powers(const long long* slots) {
  __shared__ float2 total;
  __syncthreads();  // everyone has read what the last line left here
  if (threadIdx.x < 32) {
    using All = Parts<TEAM>;
    const All parts(slots);
    float largest = parts.first[0], sum = 0;
#pragma unroll
    for (int i = 1; i < All::EACH; ++i) largest = Larger()(largest, parts.first[i]);
    largest = All::over_lanes(largest, Larger());
#pragma unroll
    for (int i = 0; i < All::EACH; ++i) sum += parts.second[i] * expf(parts.first[i] - largest);
    sum = All::over_lanes(sum, Sum());
    if (threadIdx.x == 0) total = make_float2(largest, sum);
  }
  __syncthreads();
  return total;
}

template <bool WHOLE>
__device__ __forceinline__ void rows_body(const float* __restrict__ X, float* __restrict__ Y, int M, int N, long long* __restrict__ parts) {
  constexpr int VEC = 4;
  constexpr int ROWS = 1, ITEMS = (131072 + TEAM * THREADS * VEC - 1) / (TEAM * THREADS * VEC);
  const int rank = blockIdx.x % TEAM;
  for (int line = blockIdx.x / TEAM; line < N; line += gridDim.x / TEAM) {
    const float* X_0_line = X + size_t(line) * M;
    float acc1 = __int_as_float(0xff800000);
    Pack<float, VEC> X_0_kept[ITEMS];
    #pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
      const int column = ((item * TEAM + rank) * THREADS + int(threadIdx.x)) * VEC;
      X_0_kept[item] = load<WHOLE, VEC>(X_0_line + column, M - column);
    }
    #pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
      const int column = ((item * TEAM + rank) * THREADS + int(threadIdx.x)) * VEC;
      #pragma unroll
      for (int i = 0; i < VEC; ++i) {
        const float v0 = X_0_kept[item].at[i];
        if (column + (WHOLE ? 0 : i) < M) {
          acc1 = Larger()(acc1, float(v0));
        }
      }
    }
    for (int column = ((ITEMS * TEAM + rank) * THREADS + int(threadIdx.x)) * VEC; column < M; column += TEAM * THREADS * VEC) {
      Pack<float, VEC> X_0_pack = {};
      X_0_pack = load<WHOLE, VEC>(X_0_line + column, M - column);
      #pragma unroll
      for (int i = 0; i < VEC; ++i) {
        const float v0 = X_0_pack.at[i];
        if (column + (WHOLE ? 0 : i) < M) {
          acc1 = Larger()(acc1, float(v0));
        }
      }
    }
    const float own1 = reduce_row<THREADS, ROWS>(acc1, Larger());
    const float near1 = own1 == __int_as_float(0xff800000) ? 0 : own1;
    float acc4 = 0;
    Pack<float, VEC> k3[ITEMS];
    #pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
      const int column = ((item * TEAM + rank) * THREADS + int(threadIdx.x)) * VEC;
      #pragma unroll
      for (int i = 0; i < VEC; ++i) {
        const float v0 = X_0_kept[item].at[i];
        const float v2 = v0 - near1;
        const float v3 = exp(v2);
        k3[item].at[i] = v3;
        if (column + (WHOLE ? 0 : i) < M) {
          acc4 += v3;
        }
      }
    }
    for (int column = ((ITEMS * TEAM + rank) * THREADS + int(threadIdx.x)) * VEC; column < M; column += TEAM * THREADS * VEC) {
      Pack<float, VEC> X_0_pack = {};
      X_0_pack = load<WHOLE, VEC>(X_0_line + column, M - column);
      #pragma unroll
      for (int i = 0; i < VEC; ++i) {
        const float v0 = X_0_pack.at[i];
        const float v2 = v0 - near1;
        const float v3 = exp(v2);
        if (column + (WHOLE ? 0 : i) < M) {
          acc4 += v3;
        }
      }
    }
    const float own4 = reduce_row<THREADS, ROWS>(acc4, Sum());
    give(own1, own4, parts + line * TEAM, rank);
    const float2 both = take_powers<TEAM>(parts + line * TEAM);
    const float v1 = both.x, v4 = both.y;
    const float again = near1 > v1 ? 1 : expf(near1 - v1);  // kept powers were about the block's own
    const float v5 = 1 / v4;
    float* out0_line = Y + size_t(line) * M;
    #pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
      const int column = ((item * TEAM + rank) * THREADS + int(threadIdx.x)) * VEC;
      Pack<float, VEC> out0;
      #pragma unroll
      for (int i = 0; i < VEC; ++i) {
        const float v3 = k3[item].at[i] * again;
        const float v6 = v3 * v5;
        out0.at[i] = v6;
      }
      store<WHOLE, VEC>(out0_line + column, out0, M - column);
    }
    for (int column = ((ITEMS * TEAM + rank) * THREADS + int(threadIdx.x)) * VEC; column < M; column += TEAM * THREADS * VEC) {
      Pack<float, VEC> X_0_pack = {};
      X_0_pack = load<WHOLE, VEC>(X_0_line + column, M - column);
      Pack<float, VEC> out0;
      #pragma unroll
      for (int i = 0; i < VEC; ++i) {
        const float v0 = X_0_pack.at[i];
        const float v2 = v0 - v1;
        const float v3 = exp(v2);
        const float v6 = v3 * v5;
        out0.at[i] = v6;
      }
      store<WHOLE, VEC>(out0_line + column, out0, M - column);
    }
  }
}

__global__ void __launch_bounds__(THREADS, BLOCKS / 128) rows(const float* __restrict__ X, float* __restrict__ Y, int M, int N, long long* __restrict__ parts) {
  if (M % 4 == 0) rows_body<true>(X, Y, M, N, parts);
  else rows_body<false>(X, Y, M, N, parts);
}
