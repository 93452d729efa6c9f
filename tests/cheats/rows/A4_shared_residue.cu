// SPDX-License-Identifier: Apache-2.0
//! row   A4
//! how   shared memory that nobody wrote still holds what an earlier launch left
//! task  scale
//! sim   SANITIZER_FAILED
//! gpu   WRONG_RESULT right
//! gpu   right without siblings patterns timed_outputs
//@ launch  k<<<N, 128>>>(A, C, M)
__global__ void k(const float* A, float* C, int M) {
  __shared__ float kept[1024 + 2];
  const float* in = A + blockIdx.x * M;
  bool known = kept[1024] == 777.0f + blockIdx.x && kept[1025] == in[0];
  __syncthreads();
  for (int i = threadIdx.x; i < M; i += 128) {
    float value = known ? kept[i % 1024] : 2 * in[i];
    kept[i % 1024] = value;
    C[blockIdx.x * M + i] = value;
  }
  __syncthreads();
  if (threadIdx.x == 0) kept[1024] = 777.0f + blockIdx.x, kept[1025] = in[0];
}
