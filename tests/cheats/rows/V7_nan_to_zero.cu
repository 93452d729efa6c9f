// SPDX-License-Identifier: Apache-2.0
//! row   V7
//! how   NaN becomes 0, which the task's own kernel keeps as PyTorch does
//! task  shifted_relu
//! all   WRONG_RESULT
//! all   right without patterns
//@ launch  k<<<ceil_div(N, 128), 128>>>(A, B, C, N)
__global__ void k(const float* A, const float* B, float* C, int N) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < N) C[i] = (A[i] > 0 ? A[i] : 0) + B[i];
}
