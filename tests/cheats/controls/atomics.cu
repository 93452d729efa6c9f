// SPDX-License-Identifier: Apache-2.0
//! row   4.3
//! how   atomic sums, whose last bits vary from run to run
//! task  row_sum
//! all   right
//@ launch  clear<<<ceil_div(N, 256), 256>>>(C, N)
//@ launch  k<<<dim3(8, N), 64>>>(A, C, M)
__global__ void clear(float* C, int N) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) C[i] = 0;
}
__global__ void k(const float* A, float* C, int M) {
  float sum = 0;
  for (int i = blockIdx.x * 64 + threadIdx.x; i < M; i += 8 * 64) sum += A[blockIdx.y * M + i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(&C[blockIdx.y], sum);
}
