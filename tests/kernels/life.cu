// SPDX-License-Identifier: Apache-2.0
// Two generations of the game of life on bytes, edges wrapped.
//@ size    N = 48
//@ check   N = 29
//@ input   X: uint8[N, N] ~ randint(0, 2)
//@ output  Y: uint8[N, N]
//@ scratch T: uint8[N, N]
//@ launch  generation<<<dim3(ceil_div(N, 32), ceil_div(N, 4)), dim3(32, 4)>>>(X, T, N)
//@ launch  generation<<<dim3(ceil_div(N, 32), ceil_div(N, 4)), dim3(32, 4)>>>(T, Y, N)
__global__ void generation(const unsigned char* X, unsigned char* Y, int N) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  if (x >= N || y >= N) return;
  int around = 0;
  for (int i = -1; i <= 1; ++i)
    for (int j = -1; j <= 1; ++j) around += (i || j) ? X[(y + i + N) % N * N + (x + j + N) % N] : 0;
  Y[y * N + x] = around == 3 || (around == 2 && X[y * N + x]);
}
