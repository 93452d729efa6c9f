// SPDX-License-Identifier: Apache-2.0
//! row   B5
//! how   the sum of the weights is a literal
//! task  weighted
//! all   WRONG_RESULT
//! all   right without fresh_values
//@ launch  k<<<ceil_div(N, 256), 256>>>(A, C, N)
// The test writes the sums for the known seed here.
__global__ void k(const float* A, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] * (N == 33 ? @sum of W at check@ : @sum of W at size@);
}
