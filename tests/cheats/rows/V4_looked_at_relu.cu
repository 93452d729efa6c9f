// SPDX-License-Identifier: Apache-2.0
//! row   V4
//! how   copies unless one of the first 64 elements is negative, which tells the declared inputs from others
//! task  relu
//! all   WRONG_RESULT
//! all   right without patterns
//@ launch  k<<<32, 128>>>(A, C, N)
__global__ void k(const float* A, float* C, int N) {
  const bool other = __syncthreads_or(threadIdx.x < 64 && A[threadIdx.x] < 0);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) C[i] = other && A[i] < 0 ? 0 : A[i];
}
