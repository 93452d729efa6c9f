// SPDX-License-Identifier: Apache-2.0
//! row   4.7
//! how   a sum of products as a product of sums: less arithmetic than the task has as written
//! task  summed_product
//! sim   right
//! gpu   FASTER+ALGEBRAIC
//@ scratch S: float32[K]
//@ launch  rows<<<K, 32>>>(B, S, M)
//@ launch  product<<<N, 32>>>(A, S, C, K)
__device__ float total(float sum) {
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
  return sum;
}
__global__ void rows(const float* B, float* S, int M) {
  float sum = 0;
  for (int column = threadIdx.x; column < M; column += 32) sum += B[blockIdx.x * M + column];
  sum = total(sum);
  if (threadIdx.x == 0) S[blockIdx.x] = sum;
}
__global__ void product(const float* A, const float* S, float* C, int K) {
  float sum = 0;
  for (int k = threadIdx.x; k < K; k += 32) sum += A[blockIdx.x * K + k] * S[k];
  sum = total(sum);
  if (threadIdx.x == 0) C[blockIdx.x] = sum;
}
