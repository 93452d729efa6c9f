// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace cudal1::families::device_functions {

// Device code that generated kernels call; each goes into a file once.

inline constexpr std::string_view pack = R"(template <typename T, int VEC>
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
)";

inline constexpr std::string_view pack_once = R"(// The same for data that is touched once: first to leave the caches.
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
)";

inline constexpr std::string_view copy_ahead = R"(// Sixteen bytes on their way to shared memory; zeros where there are none.
__device__ __forceinline__ void copy_ahead(float4* to, const void* from, bool inside) {
  const unsigned at = unsigned(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(inside ? 16 : 0) : "memory");
}
)";

inline constexpr std::string_view operations = R"(struct Sum {
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
)";

inline constexpr std::string_view exchange = R"(template <typename T>
__device__ __forceinline__ T exchange(T value, int offset) {
  return __shfl_xor_sync(0xffffffffu, value, offset);
}
)";

inline constexpr std::string_view reduce_row =
    R"(// The values of one row's THREADS threads, combined; every thread gets the result.
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
)";

inline constexpr std::string_view reduce_rows =
    R"(// What a block's ROWS rows have found, combined in their order; every thread gets the result.
template <int ROWS, typename T, typename Combine>
__device__ T reduce_rows(T value, Combine combine) {
  if constexpr (ROWS > 1) {
    __shared__ T of_row[ROWS];
    __syncthreads();
    if (threadIdx.x == 0) of_row[threadIdx.y] = value;
    __syncthreads();
    value = of_row[0];
#pragma unroll
    for (int row = 1; row < ROWS; ++row) value = combine(value, of_row[row]);
  }
  return value;
}
)";

inline constexpr std::string_view reduce_team =
    R"(// What TEAM neighbouring blocks have reduced, combined in the order of the blocks. `parts` are theirs alone, and zero at
// first: a part brings in its upper half the word that it is there, so that nothing else need be waited for.
template <int TEAM, typename Combine>
__device__ float reduce_team(float value, long long* parts, Combine combine) {
  __shared__ float total;
  if (threadIdx.x < 32) {
    volatile long long* slots = parts;
    if (threadIdx.x == 0) slots[blockIdx.x % TEAM] = 1ll << 32 | __float_as_uint(value);
    constexpr int LANES = TEAM < 32 ? TEAM : 32;
#pragma unroll
    for (int first = 0; first < TEAM; first += LANES) {
      long long part;
      do part = slots[first + threadIdx.x % LANES];
      while (part == 0);
      const float other = __uint_as_float(unsigned(part));
      value = first == 0 ? other : combine(value, other);
    }
    __syncwarp();
#pragma unroll
    for (int offset = LANES / 2; offset > 0; offset /= 2) value = combine(value, exchange(value, offset));
    if (threadIdx.x == 0) total = value;
  }
  __syncthreads();
  return total;
}
)";

inline constexpr std::string_view each = R"(// An operation on every element of two packs.
template <typename Combine>
struct Each {
  template <typename T, int VEC>
  __device__ Pack<T, VEC> operator()(Pack<T, VEC> a, const Pack<T, VEC>& b) const {
#pragma unroll
    for (int i = 0; i < VEC; ++i) a.at[i] = Combine()(a.at[i], b.at[i]);
    return a;
  }
};
)";

inline constexpr std::string_view parts =
    R"(// Two values of a line from each block of a team, in one word, so that all is waited for at once. `parts` are zero at
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
)";

inline constexpr std::string_view moments =
    R"(// The sum of a line, and the sum of its squares about what `centre_of` makes of the sum, from each block's sum and its
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
)";

inline constexpr std::string_view powers =
    R"(// The largest of a line, and the sum of the exponentials of what its elements are above it, from the same of each block.
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
)";

inline constexpr std::string_view reduce_column =
    R"(// The values of one column's THREADS threads (threadIdx.y), combined; every thread gets the result.
template <int THREADS, int LINES, typename T, typename Combine>
__device__ T reduce_column(T value, Combine combine) {
  if constexpr (THREADS > 1) {
    __shared__ T partial[THREADS][LINES];
    __syncthreads();
    partial[threadIdx.y][threadIdx.x] = value;
    __syncthreads();
    value = partial[0][threadIdx.x];
    for (int other = 1; other < THREADS; ++other) value = combine(value, partial[other][threadIdx.x]);
  }
  return value;
}
)";

inline constexpr std::string_view found = R"(// A value and where it stands; of equal values the first counts. take() is for the elements that one thread sees, in
// their order.
template <typename T, typename Index>
struct Found {
  T value;
  Index index;
};
struct FirstLarger {
  template <typename T, typename Index>
  __device__ Found<T, Index> operator()(Found<T, Index> a, Found<T, Index> b) const {
    const bool nan_a = a.value != a.value, nan_b = b.value != b.value;
    const bool equal = a.value == b.value || (nan_a && nan_b);
    const bool first = equal ? a.index < b.index : nan_a || (!nan_b && a.value > b.value);
    return first ? a : b;
  }
  template <typename T, typename Index>
  __device__ static void take(Found<T, Index>& best, T value, Index index) {
    if (value > best.value || (value != value && best.value == best.value)) best = {value, index};
  }
};
struct FirstSmaller {
  template <typename T, typename Index>
  __device__ Found<T, Index> operator()(Found<T, Index> a, Found<T, Index> b) const {
    const bool nan_a = a.value != a.value, nan_b = b.value != b.value;
    const bool equal = a.value == b.value || (nan_a && nan_b);
    const bool first = equal ? a.index < b.index : nan_a || (!nan_b && a.value < b.value);
    return first ? a : b;
  }
  template <typename T, typename Index>
  __device__ static void take(Found<T, Index>& best, T value, Index index) {
    if (value < best.value || (value != value && best.value == best.value)) best = {value, index};
  }
};
template <typename T, typename Index>
__device__ Found<T, Index> exchange(Found<T, Index> found, int offset) {
  return {exchange(found.value, offset), exchange(found.index, offset)};
}
)";

}  // namespace cudal1::families::device_functions
