// SPDX-License-Identifier: Apache-2.0
// Rotary embedding: pairs that lie side by side (0) or half a head apart (1); angles computed or read from a table.
//@ size    T = 16384
//@ check   T = 64
//@ input   X: float32[T, 8, 64]
//@ input   S: float32[T, 32]
//@ input   C: float32[T, 32]
//@ output  Y: float32[T, 8, 64]
//@ tune    FORM = 0 | 1
//@ tune    TABLE = 0 | 1
//@ tune    BLOCK = 64 | 256
//@ launch  rope<<<T * 256 / BLOCK, BLOCK>>>(X, S, C, Y)

__global__ void rope(const float* X, const float* S, const float* C, float* Y) {
  int i = blockIdx.x * BLOCK + threadIdx.x, pair = i % 32, head = i / 32, token = i / 256;
  float s, c;
  if (TABLE) s = S[token * 32 + pair], c = C[token * 32 + pair];
  else sincosf(token * powf(10000.0f, -pair / 32.0f), &s, &c);
  int a = head * 64 + (FORM == 0 ? 2 * pair : pair), b = FORM == 0 ? a + 1 : a + 32;
  float x = X[a], y = X[b];
  Y[a] = x * c - y * s;
  Y[b] = x * s + y * c;
}
