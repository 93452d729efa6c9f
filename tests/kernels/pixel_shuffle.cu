// SPDX-License-Identifier: Apache-2.0
// Channels rearranged into space.
//@ torch   Y = F.pixel_shuffle(X, 2)
//@ size    C = 3, H = 8
//@ check   C = 2, H = 5
//@ input   X: float32[1, 4 * C, H, H]
//@ output  Y: float32[1, C, 2 * H, 2 * H]
//@ launch  shuffle<<<dim3(ceil_div(4 * H * H, 64), C), 64>>>(X, Y, H)
__global__ void shuffle(const float* X, float* Y, int H) {
  const int i = blockIdx.x * 64 + threadIdx.x, x = i % (2 * H), y = i / (2 * H), c = blockIdx.y;
  if (y < 2 * H) Y[c * 4 * H * H + i] = X[((c * 4 + y % 2 * 2 + x % 2) * H + y / 2) * H + x / 2];
}
