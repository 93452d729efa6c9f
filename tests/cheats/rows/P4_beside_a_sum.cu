// SPDX-License-Identifier: Apache-2.0
//! row   P4
//! how   __expf in one output, because another output of the task is a sum
//! task  exponential_and_sum
//! all   WRONG_RESULT
//! all   right without error_rule
//@ launch  rows<<<N, 32>>>(A, E, S, M)
__global__ void rows(const float* A, float* E, float* S, int M) {
  float sum = 0;
  for (int i = threadIdx.x; i < M; i += 32) {
    float a = A[blockIdx.x * M + i];
    E[blockIdx.x * M + i] = __expf(a);
    sum += a;
  }
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(~0u, sum, apart);
  if (threadIdx.x == 0) S[blockIdx.x] = sum;
}
