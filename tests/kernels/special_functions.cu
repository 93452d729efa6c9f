// SPDX-License-Identifier: Apache-2.0
// What the mathematics library makes of single precision, one function for each row.
//@ size    N = 256
//@ check   N = 150
//@ input   X: float32[N]
//@ output  Y: float32[12, N]
//@ launch  functions<<<ceil_div(N, 64), 64>>>(X, Y, N)
__global__ void functions(const float* X, float* Y, int N) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= N) return;
  const float x = X[i], p = fabsf(x) + 0.1f;
  Y[i] = expf(x), Y[N + i] = logf(p), Y[2 * N + i] = sinf(30 * x), Y[3 * N + i] = cosf(1e5f * x), Y[4 * N + i] = tanhf(x), Y[5 * N + i] = erff(x);
  Y[6 * N + i] = powf(p, x), Y[7 * N + i] = cbrtf(x), Y[8 * N + i] = atan2f(x, 0.3f), Y[9 * N + i] = lgammaf(p), Y[10 * N + i] = fmodf(x, 0.37f), Y[11 * N + i] = expm1f(x) + log1pf(p) + asinhf(x);
}
