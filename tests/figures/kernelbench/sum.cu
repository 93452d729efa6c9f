// SPDX-License-Identifier: Apache-2.0
//@ launch column_sums<<<dim3(16384 / 256, 64), 256>>>(x, output)
__global__ void column_sums(const float* __restrict__ x, float* __restrict__ output) {
  const size_t column = blockIdx.x * 256 + threadIdx.x;
  const float* from = x + size_t(blockIdx.y) * 4096 * 16384 + column;
  float all = 0;
  for (int block = 0; block < 4096; block += 64) {
    float a = 0, b = 0, c = 0, d = 0;
#pragma unroll 4
    for (int i = block; i < block + 64; i += 4) {
      a += from[size_t(i) * 16384]; b += from[size_t(i + 1) * 16384]; c += from[size_t(i + 2) * 16384]; d += from[size_t(i + 3) * 16384];
    }
    all += (a + b) + (c + d);
  }
  output[blockIdx.y * 16384 + column] = all;
}
