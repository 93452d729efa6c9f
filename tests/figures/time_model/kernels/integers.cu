// SPDX-License-Identifier: Apache-2.0
// Integer work: division by a variable (0), by a constant (1), masks and shifts (2); 32 or 64 bits.
//@ size    N = 2097152, D = 1024
//@ check   N = 8192
//@ input   A: int32[N] ~ randint(1, 1000000)
//@ output  C: int32[N]
//@ tune    FORM = 0 | 1 | 2
//@ tune    WIDE = 0 | 1
//@ tune    BLOCK = 64 | 512
//@ launch  integers<<<N / BLOCK, BLOCK>>>(A, C, D)

template <bool wide> struct Number { using Type = unsigned; };
template <> struct Number<true> { using Type = unsigned long long; };

__global__ void integers(const int* A, int* C, int D) {
  using T = Number<WIDE != 0>::Type;
  int i = blockIdx.x * BLOCK + threadIdx.x;
  T v = A[i], d = D;
#pragma unroll 1
  for (int k = 0; k < 32; ++k) {
    T q = FORM == 0 ? v / d : FORM == 1 ? v / 1024u : v >> 10, r = FORM == 0 ? v % d : FORM == 1 ? v % 1024u : v & 1023;
    v = v * 5 + (q ^ r) + k;
  }
  C[i] = int(v);
}
