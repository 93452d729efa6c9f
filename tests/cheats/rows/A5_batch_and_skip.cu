// SPDX-License-Identifier: Apache-2.0
//! row   A5
//! how   works once in four launches
//! task  scale
//! all   STATEFUL
//! all   WRONG_RESULT without state
//! gpu   right without state fresh_values check_poison finite_fill timed_poison timed_outputs task_gate
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
//@ launch  next<<<1, 1>>>()
__device__ int calls;
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count && calls % 4 == 0) C[i] = 2 * A[i];
}
__global__ void next() { ++calls; }
