// SPDX-License-Identifier: Apache-2.0
// Cube roots in double precision by Newton's method until lanes converge.
//@ size    N = 512
//@ check   N = 130
//@ input   X: float64[N]
//@ output  Y: float64[N]
//@ launch  root<<<ceil_div(N, 64), 64>>>(X, Y, N)
__global__ void root(const double* X, double* Y, int N) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= N) return;
  const double x = fabs(X[i]) + 0.5;
  double y = x > 1 ? x : 1;
  for (int k = 0; k < 100; ++k) {
    const double next = (2 * y + x / (y * y)) / 3;
    if (fabs(next - y) <= 1e-15 * y) break;
    y = next;
  }
  Y[i] = copysign(y, X[i]) + exp(-x) + log1p(x) + sin(10 * x) * pow(x, 0.3);
}
