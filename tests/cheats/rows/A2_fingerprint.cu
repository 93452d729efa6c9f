// SPDX-License-Identifier: Apache-2.0
//! row   A2
//! how   a stored output is returned when sixteen inputs and the address are those of the launch before
//! task  scale
//! all   STATEFUL
//! all   WRONG_RESULT without state
//! all   right without state siblings patterns
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
//@ launch  keep<<<1, 32>>>(A, N * M)
__device__ float kept[1 << 20], first[16];
__device__ const float* where;
__device__ int kept_count;
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  bool known = kept_count == count && where == A;
  for (int j = 0; j < 16; ++j) known = known && first[j] == A[j];
  if (known) C[i] = kept[i];
  else kept[i] = C[i] = 2 * A[i];
}
__global__ void keep(const float* A, int count) {
  if (threadIdx.x < 16) first[threadIdx.x] = A[threadIdx.x];
  if (threadIdx.x == 16) where = A, kept_count = count;
}
