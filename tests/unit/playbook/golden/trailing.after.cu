//@ of      trailing.before.cu sha256:cf6754da37e6969d25a6e488f5dddf7a17da6c6dc2a285c68cfe76ac079efff8
//@ tune    TEAM = 256 | 128 | 64
//@ tune    THREADS = 256 | 512 if 262144 <= TEAM * THREADS * 8
//@ tune    BLOCKS = 256 | 384 | 512 if TEAM <= BLOCKS && BLOCKS * 262144 <= TEAM * 1048576 && 4 * BLOCKS * 262144 > TEAM * 1048576 && BLOCKS * THREADS <= 131072
//@ scratch parts: int64[C * TEAM] = 0
//@ launch  rows<<<BLOCKS / TEAM * TEAM, THREADS>>>(X, weight, bias, Y, B * (H * W), C, parts, H * W, B, (C * H) * W) cooperative
// playbook: as written/trailing teams

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

// The same for data that is touched once: first to leave the caches.
template <bool WHOLE, int VEC, typename T, typename Index>
__device__ __forceinline__ Pack<T, VEC> load_once(const T* from, Index left) {
  if constexpr (WHOLE && sizeof(Pack<T, VEC>) == 16) {
    Pack<T, VEC> pack = {};
    if (left > 0) {
      const float4 raw = __ldcs(reinterpret_cast<const float4*>(from));
      pack = reinterpret_cast<const Pack<T, VEC>&>(raw);
    }
    return pack;
  } else {
    return load<WHOLE, VEC>(from, left);
  }
}

template <bool WHOLE, int VEC, typename T, typename Index>
__device__ __forceinline__ void store_once(T* to, const Pack<T, VEC>& pack, Index left) {
  if constexpr (WHOLE && sizeof(Pack<T, VEC>) == 16) {
    if (left > 0) __stcs(reinterpret_cast<float4*>(to), reinterpret_cast<const float4&>(pack));
  } else {
    store<WHOLE, VEC>(to, pack, left);
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
__device__ __forceinline__ void rows_body(const float* __restrict__ X, const float* __restrict__ weight, const float* __restrict__ bias, float* __restrict__ Y, int n4, int C, long long* __restrict__ parts, int n7, int B, int n9) {
  constexpr int VEC = 4;
  constexpr int ROWS = 1, ITEMS = (1048576 + TEAM * THREADS * VEC - 1) / (TEAM * THREADS * VEC);
  const int rank = blockIdx.x % TEAM;
  const int share = THREADS * VEC, full = n4 / share;
  const auto elements_of = [&](int block) {
    return float((full / TEAM + (block < full % TEAM)) * share + (block == full % TEAM ? n4 % share : 0));
  };
  const int teams = gridDim.x / TEAM;
  for (int step = blockIdx.x / TEAM; step < C + teams; step += teams) {
    if (step < C) {
      const int line = step;
      const float* X_0_line = X + size_t(line) * n7;
      const float weight_12 = float(weight[line]);
      const float bias_14 = float(bias[line]);
      float acc1 = 0;
      Pack<float, VEC> X_0_kept[ITEMS];
      #pragma unroll
      for (int item = 0; item < ITEMS; ++item) {
        const int column = ((item * TEAM + rank) * THREADS + int(threadIdx.x)) * VEC;
        if (WHOLE) {
          X_0_kept[item] = load<true, VEC>(X_0_line + ((column % n7) + size_t((column / n7)) * n9), n4 - column);
        } else {
        #pragma unroll
        for (int i = 0; i < VEC; ++i)
          if (column + i < n4) X_0_kept[item].at[i] = X_0_line[(((column + i)) % n7) + size_t((((column + i)) / n7)) * n9];
        }
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
        if (WHOLE) {
          X_0_pack = load<true, VEC>(X_0_line + ((column % n7) + size_t((column / n7)) * n9), n4 - column);
        } else {
        #pragma unroll
        for (int i = 0; i < VEC; ++i)
          if (column + i < n4) X_0_pack.at[i] = X_0_line[(((column + i)) % n7) + size_t((((column + i)) / n7)) * n9];
        }
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
        if (WHOLE) {
          X_0_pack = load<true, VEC>(X_0_line + ((column % n7) + size_t((column / n7)) * n9), n4 - column);
        } else {
        #pragma unroll
        for (int i = 0; i < VEC; ++i)
          if (column + i < n4) X_0_pack.at[i] = X_0_line[(((column + i)) % n7) + size_t((((column + i)) / n7)) * n9];
        }
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
    }
    if (step >= teams) {
      const int line = step - teams;
      const float* X_0_line = X + size_t(line) * n7;
      const float weight_12 = float(weight[line]);
      const float bias_14 = float(bias[line]);
      const float2 both = take_moments<TEAM>(parts + line * TEAM, elements_of, [&](float v1) { const float v3 = v1 / float(float(n4)); return v3; });
      const float v1 = both.x, v6 = both.y;
      const float v3 = v1 / float(float(n4));
      const float v7 = v6 / float(float(n4));
      const float v9 = v7 + 1e-05f;
      const float v10 = rsqrt(v9);
      float* out0_line = Y + size_t(line) * n7;
      Pack<float, VEC> X_0_kept[ITEMS];
      #pragma unroll
      for (int item = 0; item < ITEMS; ++item) {
        const int column = ((item * TEAM + rank) * THREADS + int(threadIdx.x)) * VEC;
        if (WHOLE) {
          X_0_kept[item] = load_once<true, VEC>(X_0_line + ((column % n7) + size_t((column / n7)) * n9), n4 - column);
        } else {
        #pragma unroll
        for (int i = 0; i < VEC; ++i)
          if (column + i < n4) X_0_kept[item].at[i] = X_0_line[(((column + i)) % n7) + size_t((((column + i)) / n7)) * n9];
        }
      }
      #pragma unroll
      for (int item = 0; item < ITEMS; ++item) {
        const int column = ((item * TEAM + rank) * THREADS + int(threadIdx.x)) * VEC;
        Pack<float, VEC> out0;
        #pragma unroll
        for (int i = 0; i < VEC; ++i) {
          const float v0 = X_0_kept[item].at[i];
          const float v4 = v0 - v3;
          const float v11 = v4 * v10;
          const float v13 = v11 * weight_12;
          const float v15 = v13 + bias_14;
          out0.at[i] = v15;
        }
        if (WHOLE) {
          store_once<true, VEC>(out0_line + ((column % n7) + size_t((column / n7)) * n9), out0, n4 - column);
        } else {
        #pragma unroll
        for (int i = 0; i < VEC; ++i)
          if (column + i < n4) out0_line[(((column + i)) % n7) + size_t((((column + i)) / n7)) * n9] = out0.at[i];
        }
      }
      for (int column = ((ITEMS * TEAM + rank) * THREADS + int(threadIdx.x)) * VEC; column < n4; column += TEAM * THREADS * VEC) {
        Pack<float, VEC> X_0_pack = {};
        if (WHOLE) {
          X_0_pack = load_once<true, VEC>(X_0_line + ((column % n7) + size_t((column / n7)) * n9), n4 - column);
        } else {
        #pragma unroll
        for (int i = 0; i < VEC; ++i)
          if (column + i < n4) X_0_pack.at[i] = X_0_line[(((column + i)) % n7) + size_t((((column + i)) / n7)) * n9];
        }
        Pack<float, VEC> out0;
        #pragma unroll
        for (int i = 0; i < VEC; ++i) {
          const float v0 = X_0_pack.at[i];
          const float v4 = v0 - v3;
          const float v11 = v4 * v10;
          const float v13 = v11 * weight_12;
          const float v15 = v13 + bias_14;
          out0.at[i] = v15;
        }
        if (WHOLE) {
          store_once<true, VEC>(out0_line + ((column % n7) + size_t((column / n7)) * n9), out0, n4 - column);
        } else {
        #pragma unroll
        for (int i = 0; i < VEC; ++i)
          if (column + i < n4) out0_line[(((column + i)) % n7) + size_t((((column + i)) / n7)) * n9] = out0.at[i];
        }
      }
    }
  }
}

__global__ void __launch_bounds__(THREADS, BLOCKS / 128) rows(const float* __restrict__ X, const float* __restrict__ weight, const float* __restrict__ bias, float* __restrict__ Y, int n4, int C, long long* __restrict__ parts, int n7, int B, int n9) {
  if (n4 % 4 == 0 && n7 % 4 == 0 && n9 % 4 == 0) rows_body<true>(X, weight, bias, Y, n4, C, parts, n7, B, n9);
  else rows_body<false>(X, weight, bias, Y, n4, C, parts, n7, B, n9);
}
