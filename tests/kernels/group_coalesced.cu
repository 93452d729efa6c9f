// SPDX-License-Identifier: Apache-2.0
// The lanes that took a branch count themselves and one adds for all.
//@ torch   C = (X > 0.5).sum()
//@ size    N = 4096
//@ check   N = 1111
//@ input   X: float32[N]
//@ output  C: int64
//@ memset  C = 0
//@ launch  count<<<ceil_div(N, 128), 128>>>(X, C, N)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void count(const float* X, unsigned long long* C, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N && X[i] > 0.5f) {
    cg::coalesced_group group = cg::coalesced_threads();
    if (group.thread_rank() == 0) atomicAdd(C, (unsigned long long)group.size());
  }
}
