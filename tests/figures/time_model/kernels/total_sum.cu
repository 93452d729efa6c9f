// SPDX-License-Identifier: Apache-2.0
// The sum of everything: an atomic per thread (0), per warp (1), per block (2).
//@ size    N = 8388608
//@ check   N = 65536
//@ input   A: float32[N]
//@ output  C: float32[1]
//@ tune    FORM = 0 | 1 | 2
//@ tune    ITEMS = 1 | 8 | 64
//@ memset  C = 0
//@ launch  total_sum<<<N / (256 * ITEMS), 256>>>(A, C)

__device__ float warp_sum(float v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
  return v;
}

__global__ void total_sum(const float* A, float* C) {
  int first = blockIdx.x * 256 * ITEMS + threadIdx.x;
  float sum = 0;
#pragma unroll 8
  for (int k = 0; k < ITEMS; ++k) sum += A[first + k * 256];
  if constexpr (FORM == 0) {
    atomicAdd(C, sum);
  } else {
    sum = warp_sum(sum);
    if constexpr (FORM == 1) {
      if (threadIdx.x % 32 == 0) atomicAdd(C, sum);
    } else {
      __shared__ float part[8];
      if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
      __syncthreads();
      if (threadIdx.x == 0) {
        for (int k = 1; k < 8; ++k) sum += part[k];
        atomicAdd(C, sum);
      }
    }
  }
}
