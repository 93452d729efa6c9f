// SPDX-License-Identifier: Apache-2.0
//! row   Z14
//! how   at the declared size one output is left out, a 320th of all that is written
//! task  doubled_and_summed
//! sim   WRONG_RESULT UNSUPPORTED
//! sim   right without full_size
//@ launch  k<<<N, 64>>>(A, C, S, M)
__global__ void k(const float* A, float* C, float* S, int M) {
  __shared__ float part[64];
  float sum = 0;
  for (int j = threadIdx.x; j < M; j += 64) {
    float a = A[blockIdx.x * M + j];
    C[blockIdx.x * M + j] = 2 * a;
    sum += a;
  }
  if (M == 320) return;
  part[threadIdx.x] = sum;
  for (int half = 32; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) S[blockIdx.x] = part[0];
}
