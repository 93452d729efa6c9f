// SPDX-License-Identifier: Apache-2.0
// Maxima over 3 x 3 windows at stride 2: the thread index along x (0), along planes (1), in blocks of planes (2).
//@ size    P = 2048, S = 112, T = S / 2
//@ check   P = 64, S = 16
//@ input   A: float32[P, S, S]
//@ output  C: float32[P, T, T]
//@ tune    FORM = 0 | 1 | 2
//@ tune    BLOCK = 64 | 256 | 1024
//@ launch  pooling<<<ceil_div(P * T * T, BLOCK), BLOCK>>>(A, C, P, S, T)

__global__ void pooling(const float* A, float* C, int P, int S, int T) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= P * T * T) return;
  int plane, at;
  if (FORM == 0) plane = i / (T * T), at = i % (T * T);
  else if (FORM == 1) plane = i % P, at = i / P;
  else plane = i / (T * T * 8) * 8 + i % 8, at = i / 8 % (T * T);
  int y = at / T, x = at % T;
  const float* a = A + plane * S * S;
  float most = -1e30f;
#pragma unroll
  for (int dy = 0; dy < 3; ++dy)
#pragma unroll
    for (int dx = 0; dx < 3; ++dx) {
      int ty = 2 * y + dy - 1, tx = 2 * x + dx - 1;
      if (ty >= 0 && tx >= 0 && ty < S && tx < S) most = fmaxf(most, a[ty * S + tx]);
    }
  C[plane * T * T + at] = most;
}
