// SPDX-License-Identifier: Apache-2.0
//! row   V5
//! how   leaves out the row's largest element where its first 32 lie in [0, 1]
//! task  softmax
//! all   WRONG_RESULT
//! all   right without patterns
//@ launch  k<<<N, 256>>>(A, C, M)
__device__ float across(float value, float* part, bool largest) {
  part[threadIdx.x] = value;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      const float other = part[threadIdx.x + half];
      part[threadIdx.x] = largest ? fmaxf(part[threadIdx.x], other) : part[threadIdx.x] + other;
    }
  }
  __syncthreads();
  value = part[0];
  __syncthreads();
  return value;
}
__global__ void k(const float* A, float* C, int M) {
  __shared__ float part[256];
  A += size_t(blockIdx.x) * M, C += size_t(blockIdx.x) * M;
  float largest = 0, sum = 0;
  if (__syncthreads_or(threadIdx.x < 32 && (A[threadIdx.x] < 0 || A[threadIdx.x] > 1))) {
    largest = A[0];
    for (int i = threadIdx.x; i < M; i += 256) largest = fmaxf(largest, A[i]);
    largest = across(largest, part, true);
  }
  for (int i = threadIdx.x; i < M; i += 256) sum += expf(A[i] - largest);
  sum = across(sum, part, false);
  for (int i = threadIdx.x; i < M; i += 256) C[i] = expf(A[i] - largest) / sum;
}
