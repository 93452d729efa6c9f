// SPDX-License-Identifier: Apache-2.0
//$ needs exchange.cuh

// The values of one column's THREADS threads (threadIdx.y), combined; every thread gets the result.
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
