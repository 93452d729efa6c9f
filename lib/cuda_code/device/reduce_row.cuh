// SPDX-License-Identifier: Apache-2.0
//$ needs exchange.cuh

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
