// SPDX-License-Identifier: Apache-2.0
//! row   A1
//! how   a writable global keeps the first output, later launches copy it
//! task  scale
//! all   STATEFUL
//! all   WRONG_RESULT without state
//! all   right without state fresh_values
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
//@ launch  keep<<<1, 1>>>(N * M)
__device__ float kept[1 << 20];
__device__ int kept_count;
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  if (kept_count == count) C[i] = kept[i];
  else kept[i] = C[i] = 2 * A[i];
}
__global__ void keep(int count) { kept_count = count; }
