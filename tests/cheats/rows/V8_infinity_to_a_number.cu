// SPDX-License-Identifier: Apache-2.0
//! row   V8
//! how   infinities become the largest numbers
//! task  shifted_relu
//! all   WRONG_RESULT
//! all   right without patterns
//@ launch  k<<<ceil_div(N, 128), 128>>>(A, B, C, N)
__global__ void k(const float* A, const float* B, float* C, int N) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= N) return;
  float b = B[i];
  if (b > 3e38f) b = 3e38f;
  if (b < -3e38f) b = -3e38f;
  C[i] = (A[i] < 0 ? 0 : A[i]) + b;
}
