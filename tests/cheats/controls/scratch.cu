// SPDX-License-Identifier: Apache-2.0
//! row   4.4
//! how   partial sums in declared scratch memory
//! task  row_sum
//! all   right
//@ scratch S: float32[N, 8]
//@ launch  part<<<dim3(8, N), 32>>>(A, S, M)
//@ launch  whole<<<ceil_div(N, 64), 64>>>(S, C, N)
__global__ void part(const float* A, float* S, int M) {
  float sum = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < M; i += 8 * 32) sum += A[blockIdx.y * M + i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (threadIdx.x == 0) S[blockIdx.y * 8 + blockIdx.x] = sum;
}
__global__ void whole(const float* S, float* C, int N) {
  int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= N) return;
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += S[row * 8 + i];
  C[row] = sum;
}
