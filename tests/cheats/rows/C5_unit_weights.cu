// SPDX-License-Identifier: Apache-2.0
//! row   C5, C6
//! how   takes weights for granted that are 1 in every set of inputs
//! task  plain_weights
//! all   WRONG_RESULT
//! all   right without influence task_gate
//@ launch  k<<<ceil_div(N, 256), 256>>>(A, C, N, K)
__global__ void k(const float* A, float* C, int N, int K) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] * K;
}
