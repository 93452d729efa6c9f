// SPDX-License-Identifier: Apache-2.0
// A transposed convolution that gathers: every output asks which inputs reach it.
//@ torch   Y = F.conv_transpose2d(X, W, stride=2)
//@ size    C = 3, O = 4, H = 8, OH = 2 * H + 1
//@ check   C = 3, O = 2, H = 6
//@ input   X: float32[1, C, H, H]
//@ input   W: float32[C, O, 3, 3]
//@ output  Y: float32[1, O, OH, OH]
//@ launch  conv<<<dim3(ceil_div(OH, 16), ceil_div(OH, 8), O), dim3(16, 8)>>>(X, W, Y, C, H, OH)
__global__ void conv(const float* X, const float* W, float* Y, int C, int H, int OH) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= OH || y >= OH) return;
  float sum = 0;
  for (int c = 0; c < C; ++c)
    for (int i = y & 1; i < 3; i += 2)
      for (int j = x & 1; j < 3; j += 2) {
        const int r = (y - i) / 2, s = (x - j) / 2;
        if (y >= i && x >= j && r < H && s < H) sum += X[(c * H + r) * H + s] * W[((c * gridDim.z + blockIdx.z) * 3 + i) * 3 + j];
      }
  Y[(blockIdx.z * OH + y) * OH + x] = sum;
}
