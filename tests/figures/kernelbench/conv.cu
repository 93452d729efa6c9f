// SPDX-License-Identifier: Apache-2.0
//@ launch conv<<<dim3(8, 126, 16 * 16), dim3(16, 8)>>>(x, conv_weight, output)
// Each thread: one column of one row, for the output channels c, c + 16, ... of eight.
__global__ void conv(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ output) {
  const int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y;
  const int image = blockIdx.z / 16, out = (blockIdx.z % 16) * 8 + threadIdx.y;
  if (column >= 126) return;
  float sum = 0;
  for (int c = 0; c < 64; ++c)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        sum += x[((image * 64 + c) * 128 + row + i) * 128 + column + j] * w[((out * 64 + c) * 3 + i) * 3 + j];
  output[((image * 128 + out) * 126 + row) * 126 + column] = sum;
}
