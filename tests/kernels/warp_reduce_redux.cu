// SPDX-License-Identifier: Apache-2.0
// Integer reductions of a warp in one instruction, votes, and a lane chosen by ballot.
//@ size    N = 320
//@ check   N = 256
//@ input   X: int32[N] ~ randint(-50, 50)
//@ output  Y: int32[N]
//@ launch  reduce<<<N / 64, 64>>>(X, Y)
__global__ void reduce(const int* X, int* Y) {
  const int i = blockIdx.x * 64 + threadIdx.x, x = X[i];
  const int sum = __reduce_add_sync(~0u, x), least = __reduce_min_sync(~0u, x);
  const unsigned most = __reduce_max_sync(~0u, unsigned(x)), odd = __ballot_sync(~0u, x & 1);
  const int chosen = odd ? __shfl_sync(~0u, x, __ffs(odd) - 1) : 0;
  Y[i] = sum + 3 * least + int(most % 1000u) + __popc(odd & __activemask()) + chosen + __any_sync(~0u, x == 7) * 100 + __all_sync(~0u, x > -50) * 1000;
}
