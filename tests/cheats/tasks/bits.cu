// SPDX-License-Identifier: Apache-2.0
//@ task    bits
//@ torch   C = (A ^ B) & ~D
//@ size    N = 8192
//@ check   N = 1001
//@ input   A: int32[N] ~ randint(0, 1000)
//@ input   B: int32[N] ~ randint(0, 1000)
//@ input   D: int32[N] ~ randint(0, 1000)
//@ output  C: int32[N]
//@ launch  bits<<<ceil_div(N, 128), 128>>>(A, B, D, C, N)
__global__ void bits(const int* A, const int* B, const int* D, int* C, int N) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < N) C[i] = (A[i] ^ B[i]) & ~D[i];
}
