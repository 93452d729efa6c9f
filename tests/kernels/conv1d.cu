// SPDX-License-Identifier: Apache-2.0
// A one-dimensional convolution with dilation, windows in registers.
//@ torch   Y = F.conv1d(X, W, dilation=2)
//@ size    C = 4, O = 6, L = 64
//@ check   C = 3, O = 5, L = 50
//@ input   X: float32[1, C, L]
//@ input   W: float32[O, C, 3]
//@ output  Y: float32[1, O, L - 4]
//@ launch  conv<<<dim3(ceil_div(L - 4, 32), O), 32>>>(X, W, Y, C, L)
__global__ void conv(const float* X, const float* W, float* Y, int C, int L) {
  const int x = blockIdx.x * 32 + threadIdx.x;
  if (x >= L - 4) return;
  float sum = 0;
  for (int c = 0; c < C; ++c) {
    const float* w = W + (blockIdx.y * C + c) * 3;
    sum += w[0] * X[c * L + x] + w[1] * X[c * L + x + 2] + w[2] * X[c * L + x + 4];
  }
  Y[blockIdx.y * (L - 4) + x] = sum;
}
