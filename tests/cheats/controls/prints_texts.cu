// SPDX-License-Identifier: Apache-2.0
//! row   4.12
//! how   printf with a text by %s, whose address lies in the thread's own memory meanwhile
//! task  scale
//! all   right
//@ launch  k<<<ceil_div(N, 64), 64>>>(A, C, N, M)
__global__ void k(const float* A, float* C, int N, int M) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  for (int column = 0; column < M; ++column) C[row * M + column] = 2 * A[row * M + column];
  if (row == 0) printf("%s: %d of %g\n", "rows", N, C[0]);
}
