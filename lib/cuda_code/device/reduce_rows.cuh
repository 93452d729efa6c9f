// SPDX-License-Identifier: Apache-2.0

// What a block's ROWS rows have found, combined in their order; every thread gets the result.
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
