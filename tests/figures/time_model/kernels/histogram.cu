// SPDX-License-Identifier: Apache-2.0
// A histogram of 256 bins: global atomics (0), shared ones (1), one shared histogram for each warp (2).
//@ size    N = 4194304
//@ check   N = 32768
//@ input   A: int32[N] ~ randint(0, 256)
//@ output  C: int32[256]
//@ tune    FORM = 0 | 1 | 2
//@ tune    ITEMS = 4 | 16 | 64
//@ memset  C = 0
//@ launch  histogram<<<N / (256 * ITEMS), 256>>>(A, C)

__global__ void histogram(const int* A, int* C) {
  constexpr int copies = FORM == 2 ? 8 : 1;
  __shared__ int bins[copies][256];
  int first = blockIdx.x * 256 * ITEMS + threadIdx.x;
  if (FORM > 0) {
    for (int k = 0; k < copies; ++k) bins[k][threadIdx.x] = 0;
    __syncthreads();
  }
#pragma unroll 4
  for (int k = 0; k < ITEMS; ++k) {
    int bin = A[first + k * 256];
    if (FORM == 0) atomicAdd(C + bin, 1);
    else atomicAdd(&bins[FORM == 2 ? threadIdx.x / 32 : 0][bin], 1);
  }
  if (FORM > 0) {
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < copies; ++k) sum += bins[k][threadIdx.x];
    atomicAdd(C + threadIdx.x, sum);
  }
}
