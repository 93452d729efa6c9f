// SPDX-License-Identifier: Apache-2.0
//! row   A6
//! how   right for as many launches as a check makes, then half of the work
//! task  scale
//! all   STATEFUL
//! sim   right without state
//! gpu   WRONG_RESULT without state
//! gpu   FASTER without state timed_outputs
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
//@ launch  next<<<1, 1>>>()
__device__ int calls;
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < (calls < 50 ? count : count / 2)) C[i] = 2 * A[i];
}
__global__ void next() { ++calls; }
