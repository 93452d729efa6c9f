// SPDX-License-Identifier: Apache-2.0
// Lanes with equal keys elect one to add for all of them.
//@ size    N = 100000, B = 16
//@ check   N = 2050
//@ input   X: int32[N] ~ randint(0, 16)
//@ output  H: int32[B]
//@ memset  H = 0
//@ launch  histogram<<<ceil_div(N, 128), 128>>>(X, H, N)
__global__ void histogram(const int* X, int* H, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned here = __ballot_sync(~0u, i < N);
  if (i >= N) return;
  const int key = X[i];
  const unsigned equal = __match_any_sync(here, key);
  if ((threadIdx.x & 31) == __ffs(equal) - 1) atomicAdd(H + key, __popc(equal));
}
