// SPDX-License-Identifier: Apache-2.0

// What TEAM neighbouring blocks have reduced, combined in the order of the blocks. `parts` are theirs alone, and zero at
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
