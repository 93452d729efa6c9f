// SPDX-License-Identifier: Apache-2.0
//! row   A7
//! how   branches copy the counter's address bit by bit: no flow of data leads from it to the store
//! task  scale
//! all   STATEFUL
//! all   right without state
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
//@ launch  count<<<1, 1>>>()
__device__ int launches;
__device__ __noinline__ int* counter() {
  const unsigned long long address = reinterpret_cast<unsigned long long>(&launches);
  unsigned long long copy = 0;
#pragma unroll 1
  for (int bit = 63; bit >= 0; --bit) {
    copy += copy;
    if (address >> bit & 1) asm volatile("add.u64 %0, %0, 1;" : "+l"(copy));
  }
  return reinterpret_cast<int*>(copy);
}
__global__ void k(const float* A, float* C, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < (*counter() < (1 << 30) ? size : size / 2)) C[i] = 2 * A[i];
}
__global__ void count() { *counter() += 1; }
