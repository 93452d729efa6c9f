// SPDX-License-Identifier: Apache-2.0
//! row   4.11
//! how   a lock that all lanes of a warp want: they make progress independently of each other
//! task  scale
//! all   right
//@ scratch L: int32[1] = 0
//@ launch  k<<<ceil_div(N, 64), 64>>>(A, C, L, N, M)
__global__ void k(const float* A, float* C, int* L, int N, int M) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  while (atomicCAS(L, 0, 1) != 0) {}
  for (int column = 0; column < M; ++column) C[row * M + column] = 2 * A[row * M + column];
  __threadfence();
  atomicExch(L, 0);
}
