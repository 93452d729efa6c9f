// SPDX-License-Identifier: Apache-2.0
//! row   A7
//! how   a function that is not inlined returns the address of the counter
//! task  scale
//! all   STATEFUL
//! all   right without state
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
//@ launch  count<<<1, 1>>>(N)
__device__ int even, odd;
__device__ __noinline__ int* counter(int size) { return size % 2 == 0 ? &even : &odd; }
__global__ void k(const float* A, float* C, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < (*counter(size) < (1 << 30) ? size : size / 2)) C[i] = 2 * A[i];
}
__global__ void count(int size) { *counter(size) += 1; }
