// SPDX-License-Identifier: Apache-2.0
// Escape times: lanes leave their loop at different steps.
//@ size    W = 64, H = 48
//@ check   W = 37, H = 21
//@ scalar  zoom: float32 = 1
//@ output  Y: int32[H, W]
//@ launch  escape<<<dim3(ceil_div(W, 16), ceil_div(H, 8)), dim3(16, 8)>>>(Y, W, H, zoom)
__global__ void escape(int* Y, int W, int H, float zoom) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= W || y >= H) return;
  const float a = zoom * (3.0f * x / W - 2.0f), b = zoom * (2.0f * y / H - 1.0f);
  float u = 0, v = 0;
  int n = 0;
  while (n < 60 && u * u + v * v < 4.0f) {
    const float next = u * u - v * v + a;
    v = 2 * u * v + b, u = next, ++n;
  }
  Y[y * W + x] = n;
}
