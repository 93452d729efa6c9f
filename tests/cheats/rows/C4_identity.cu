// SPDX-License-Identifier: Apache-2.0
//! row   C4
//! how   y = x for a ReLU whose inputs are never negative
//! task  relu
//! all   WRONG_RESULT
//! all   right without patterns
//@ launch  k<<<ceil_div(N, 256), 256>>>(A, C, N)
__global__ void k(const float* A, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i];
}
