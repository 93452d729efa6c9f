// SPDX-License-Identifier: Apache-2.0
// A constant table, integer hashing, divisions by variables, and bit tricks.
//@ size    N = 1024, D = 7
//@ check   N = 333
//@ input   X: int32[N] ~ randint(-1000, 1000)
//@ output  Y: int32[N]
//@ launch  mix<<<ceil_div(N, 64), 64>>>(X, Y, N, D)
__constant__ unsigned primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__global__ void mix(const int* X, int* Y, int N, int D) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= N) return;
  const int x = X[i];
  unsigned h = unsigned(x) * 2654435761u;
  h ^= h >> 15, h = __brev(h) + __popc(h) * primes[x & 7];
  const long long wide = (long long)x * 123456789012345ll;
  Y[i] = int(h % unsigned(D)) + x / D + x % D + int(wide >> 20) + __clz(x) - __ffs(x) + int(__umulhi(h, 77u)) + __byte_perm(h, x, 0x5140) + __funnelshift_l(h, x, 5);
}
