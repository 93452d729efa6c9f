// SPDX-License-Identifier: Apache-2.0
//! row   V20
//! how   leaves out the row's largest element where 128 elements from everywhere, and 32 of the row, lie in [-8, 8]
//! task  softmax
//! all   WRONG_RESULT
//! all   right without patterns
//@ launch  k<<<N, 256>>>(A, C, N, M)
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
__global__ void k(const float* A, float* C, int N, int M) {
  __shared__ float part[256];
  const size_t place = (size_t(threadIdx.x) * 2654435761u + 12345) % (size_t(N) * M);
  bool far = threadIdx.x < 128 && !(fabsf(A[place]) <= 8);
  A += size_t(blockIdx.x) * M, C += size_t(blockIdx.x) * M;
  for (int i = threadIdx.x; i < 32; i += 256) far |= !(fabsf(A[M / 32 * i]) <= 8);
  float largest = 0, sum = 0;
  if (__syncthreads_or(far)) {
    largest = A[0];
    for (int i = threadIdx.x; i < M; i += 256) largest = fmaxf(largest, A[i]);
    largest = across(largest, part, true);
  }
  for (int i = threadIdx.x; i < M; i += 256) sum += expf(A[i] - largest);
  sum = across(sum, part, false);
  for (int i = threadIdx.x; i < M; i += 256) C[i] = expf(A[i] - largest) / sum;
}
