//@ of      meeting.before.cu sha256:067e1e2af7b0cdaf16552e9d09134e682f3b32ebbc83d08a59e328316830b237
//@ tune    TEAM = 16 | 8 | 4
//@ tune    THREADS = 256 | 512 if 32768 <= TEAM * THREADS * 16
//@ tune    BLOCKS = 512 | 256 | 128 if BLOCKS * 32768 <= TEAM * 1048576 && 2 * BLOCKS * 32768 > TEAM * 1048576 && BLOCKS * THREADS <= 131072
//@ scratch parts: int64[(B * 8) * TEAM] = 0
//@ launch  rows<<<BLOCKS / TEAM * TEAM, THREADS>>>(X, weight, bias, Y, (C / 8) * (H * W), B * 8, parts, B, (8 * (C / 8)) * (H * W), H * W) cooperative
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

// The sum of a line, and the sum of its squares about what `centre_of` makes of the sum, from each block's sum and its
// squares about its own mean (Chan, Golub and LeVeque 1979).
template <int TEAM, typename Elements, typename Centre>
__device__ float2 take_moments(const long long* slots, Elements elements_of, Centre centre_of) {
  __shared__ float2 total;
  __syncthreads();  // everyone has read what the last line left here
  if (threadIdx.x < 32) {
    using All = Parts<TEAM>;
    const All parts(slots);
    float sum = 0, squares = 0;
#pragma unroll
    for (int i = 0; i < All::EACH; ++i) sum += parts.first[i];
    sum = All::over_lanes(sum, Sum());
    const float centre = centre_of(sum);
#pragma unroll
    for (int i = 0; i < All::EACH; ++i) {
      const float elements = elements_of(i * All::LANES + threadIdx.x % All::LANES);
      const float away = elements > 0 ? parts.first[i] / elements - centre : 0;
      squares += parts.second[i] + elements * away * away;
    }
    squares = All::over_lanes(squares, Sum());
    if (threadIdx.x == 0) total = make_float2(sum, squares);
  }
  __syncthreads();
  return total;
}

template <bool WHOLE>
__device__ __forceinline__ void rows_body(const float* __restrict__ X, const float* __restrict__ weight, const float* __restrict__ bias, float* __restrict__ Y, int n4, int n5, long long* __restrict__ parts, int B, int n8, int n9) {
  constexpr int VEC = 4;
  constexpr int ROWS = 1, ITEMS = (131072 + TEAM * THREADS * VEC - 1) / (TEAM * THREADS * VEC);
  const int rank = blockIdx.x % TEAM;
  const int share = THREADS * VEC, full = n4 / share;
  const auto elements_of = [&](int block) {
    return float((full / TEAM + (block < full % TEAM)) * share + (block == full % TEAM ? n4 % share : 0));
  };
  for (int line = blockIdx.x / TEAM; line < n5; line += gridDim.x / TEAM) {
    const int at1 = line % 8;
    const int at0 = line / 8;
    const float* X_0_line = X + size_t(at0) * n8 + size_t(at1) * n4;
    const float* weight_12_line = weight + size_t(at1) * B;
    const float* bias_14_line = bias + size_t(at1) * B;
    float acc1 = 0;
    Pack<float, VEC> X_0_kept[ITEMS];
    #pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
      const int column = ((item * TEAM + rank) * THREADS + int(threadIdx.x)) * VEC;
      X_0_kept[item] = load<WHOLE, VEC>(X_0_line + column, n4 - column);
    }
    #pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
      const int column = ((item * TEAM + rank) * THREADS + int(threadIdx.x)) * VEC;
      #pragma unroll
      for (int i = 0; i < VEC; ++i) {
        const float v0 = X_0_kept[item].at[i];
        if (column + (WHOLE ? 0 : i) < n4) {
          acc1 += v0;
        }
      }
    }
    for (int column = ((ITEMS * TEAM + rank) * THREADS + int(threadIdx.x)) * VEC; column < n4; column += TEAM * THREADS * VEC) {
      Pack<float, VEC> X_0_pack = {};
      X_0_pack = load<WHOLE, VEC>(X_0_line + column, n4 - column);
      #pragma unroll
      for (int i = 0; i < VEC; ++i) {
        const float v0 = X_0_pack.at[i];
        if (column + (WHOLE ? 0 : i) < n4) {
          acc1 += v0;
        }
      }
    }
    const float own1 = reduce_row<THREADS, ROWS>(acc1, Sum());
    const float near3 = elements_of(rank) > 0 ? own1 / elements_of(rank) : 0;
    float acc6 = 0;
    #pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
      const int column = ((item * TEAM + rank) * THREADS + int(threadIdx.x)) * VEC;
      #pragma unroll
      for (int i = 0; i < VEC; ++i) {
        const float v0 = X_0_kept[item].at[i];
        const float v4 = v0 - near3;
        const float v5 = v4 * v4;
        if (column + (WHOLE ? 0 : i) < n4) {
          acc6 += v5;
        }
      }
    }
    for (int column = ((ITEMS * TEAM + rank) * THREADS + int(threadIdx.x)) * VEC; column < n4; column += TEAM * THREADS * VEC) {
      Pack<float, VEC> X_0_pack = {};
      X_0_pack = load<WHOLE, VEC>(X_0_line + column, n4 - column);
      #pragma unroll
      for (int i = 0; i < VEC; ++i) {
        const float v0 = X_0_pack.at[i];
        const float v4 = v0 - near3;
        const float v5 = v4 * v4;
        if (column + (WHOLE ? 0 : i) < n4) {
          acc6 += v5;
        }
      }
    }
    const float own6 = reduce_row<THREADS, ROWS>(acc6, Sum());
    give(own1, own6, parts + line * TEAM, rank);
    const float2 both = take_moments<TEAM>(parts + line * TEAM, elements_of, [&](float v1) { const float v3 = v1 / float(float(n4)); return v3; });
    const float v1 = both.x, v6 = both.y;
    const float v3 = v1 / float(float(n4));
    const float v7 = v6 / float(float(n4));
    const float v9 = v7 + 1e-05f;
    const float v10 = rsqrt(v9);
    float* out0_line = Y + size_t(at0) * n8 + size_t(at1) * n4;
    #pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
      const int column = ((item * TEAM + rank) * THREADS + int(threadIdx.x)) * VEC;
      Pack<float, VEC> weight_12_pack = {};
      if (WHOLE) {
        const auto same = column < n4 ? weight_12_line[(column / n9)] : weight_12_line[0];
      #pragma unroll
        for (int i = 0; i < VEC; ++i) weight_12_pack.at[i] = same;
      } else {
      #pragma unroll
      for (int i = 0; i < VEC; ++i)
        if (column + i < n4) weight_12_pack.at[i] = weight_12_line[(((column + i)) / n9)];
      }
      Pack<float, VEC> bias_14_pack = {};
      if (WHOLE) {
        const auto same = column < n4 ? bias_14_line[(column / n9)] : bias_14_line[0];
      #pragma unroll
        for (int i = 0; i < VEC; ++i) bias_14_pack.at[i] = same;
      } else {
      #pragma unroll
      for (int i = 0; i < VEC; ++i)
        if (column + i < n4) bias_14_pack.at[i] = bias_14_line[(((column + i)) / n9)];
      }
      Pack<float, VEC> out0;
      #pragma unroll
      for (int i = 0; i < VEC; ++i) {
        const float v0 = X_0_kept[item].at[i];
        const float v4 = v0 - v3;
        const float v11 = v4 * v10;
        const float v12 = weight_12_pack.at[i];
        const float v13 = v11 * v12;
        const float v14 = bias_14_pack.at[i];
        const float v15 = v13 + v14;
        out0.at[i] = v15;
      }
      store<WHOLE, VEC>(out0_line + column, out0, n4 - column);
    }
    for (int column = ((ITEMS * TEAM + rank) * THREADS + int(threadIdx.x)) * VEC; column < n4; column += TEAM * THREADS * VEC) {
      Pack<float, VEC> X_0_pack = {};
      X_0_pack = load<WHOLE, VEC>(X_0_line + column, n4 - column);
      Pack<float, VEC> weight_12_pack = {};
      if (WHOLE) {
        const auto same = column < n4 ? weight_12_line[(column / n9)] : weight_12_line[0];
      #pragma unroll
        for (int i = 0; i < VEC; ++i) weight_12_pack.at[i] = same;
      } else {
      #pragma unroll
      for (int i = 0; i < VEC; ++i)
        if (column + i < n4) weight_12_pack.at[i] = weight_12_line[(((column + i)) / n9)];
      }
      Pack<float, VEC> bias_14_pack = {};
      if (WHOLE) {
        const auto same = column < n4 ? bias_14_line[(column / n9)] : bias_14_line[0];
      #pragma unroll
        for (int i = 0; i < VEC; ++i) bias_14_pack.at[i] = same;
      } else {
      #pragma unroll
      for (int i = 0; i < VEC; ++i)
        if (column + i < n4) bias_14_pack.at[i] = bias_14_line[(((column + i)) / n9)];
      }
      Pack<float, VEC> out0;
      #pragma unroll
      for (int i = 0; i < VEC; ++i) {
        const float v0 = X_0_pack.at[i];
        const float v4 = v0 - v3;
        const float v11 = v4 * v10;
        const float v12 = weight_12_pack.at[i];
        const float v13 = v11 * v12;
        const float v14 = bias_14_pack.at[i];
        const float v15 = v13 + v14;
        out0.at[i] = v15;
      }
      store<WHOLE, VEC>(out0_line + column, out0, n4 - column);
    }
  }
}

__global__ void __launch_bounds__(THREADS, BLOCKS / 128) rows(const float* __restrict__ X, const float* __restrict__ weight, const float* __restrict__ bias, float* __restrict__ Y, int n4, int n5, long long* __restrict__ parts, int B, int n8, int n9) {
  if (n4 % 4 == 0 && n8 % 4 == 0 && n9 % 4 == 0) rows_body<true>(X, weight, bias, Y, n4, n5, parts, B, n8, n9);
  else rows_body<false>(X, weight, bias, Y, n4, n5, parts, B, n8, n9);
}
