// SPDX-License-Identifier: Apache-2.0
//! row   V25
//! how   sixteen bits of integers whose bits are combined, which hold the declared ones
//! task  bits
//! all   WRONG_RESULT
//! all   right without patterns
//@ launch  bits<<<ceil_div(N, 128), 128>>>(A, B, D, C, N)
__global__ void bits(const int* A, const int* B, const int* D, int* C, int N) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < N) C[i] = (A[i] ^ B[i]) & ~D[i] & 0xffff;
}
