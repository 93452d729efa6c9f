// SPDX-License-Identifier: Apache-2.0
//! row   A7
//! how   a constant holds the address of a variable that counts the launches, for later
//! task  scale
//! all   STATEFUL
//! all   right without state
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
//@ launch  count<<<1, 1>>>()
__device__ int launches;
__constant__ int* counter = &launches;
__global__ void k(const float* A, float* C, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < (*counter < (1 << 30) ? size : size / 2)) C[i] = 2 * A[i];
}
__global__ void count() { *counter += 1; }
