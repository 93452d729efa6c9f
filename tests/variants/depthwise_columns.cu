// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions whose rows are not aligned have a form in which each thread makes one column.

//@ task    depthwise_columns
//@ torch   Y = F.conv2d(X, weight, bias, stride=(2, 1), padding=1, groups=64)
//@ size    B = 16, C = 64, H = 256, W = 255
//@ check   B = 2, C = 64, H = 7, W = 9
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[C, 1, 3, 3] ~ uniform(-0.3, 0.3)
//@ input   bias: float32[C]
//@ output  Y: float32[B, C, (H - 1) / 2 + 1, W]
//@ launch  depthwise<<<ceil_div(B * C * ((H - 1) / 2 + 1) * W, 256), 256>>>(X, weight, bias, Y, B, C, H, W)
__global__ void depthwise(const float* X, const float* weight, const float* bias, float* Y, int B, int C, int H, int W) {
  const int OH = (H - 1) / 2 + 1;
  RESULT(i, B * C * OH * W);
  const int w = i % W, h = i / W % OH, plane = i / W / OH;
  float sum = bias[plane % C];
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) {
      const int y = h * 2 - 1 + a, x = w - 1 + b;
      if (y >= 0 && y < H && x >= 0 && x < W) sum += X[(plane * H + y) * W + x] * weight[plane % C * 9 + a * 3 + b];
    }
  Y[i] = sum;
}
