// SPDX-License-Identifier: Apache-2.0

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
