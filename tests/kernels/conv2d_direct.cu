// SPDX-License-Identifier: Apache-2.0
// A direct convolution, one thread for each output.
//@ torch   Y = F.conv2d(X, W, bias, stride=2, padding=1)
//@ size    N = 2, CI = 4, CO = 8, H = 16, K = 3, OH = (H + 2 - K) / 2 + 1
//@ check   N = 2, CI = 3, CO = 5, H = 11
//@ input   X: float32[N, CI, H, H]
//@ input   W: float32[CO, CI, K, K]
//@ input   bias: float32[CO]
//@ output  Y: float32[N, CO, OH, OH]
//@ launch  conv<<<dim3(ceil_div(OH * OH, 64), CO, N), 64>>>(X, W, bias, Y, CI, H, OH)
__global__ void conv(const float* X, const float* W, const float* bias, float* Y, int CI, int H, int OH) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x, y = p / OH, x = p % OH;
  if (p >= OH * OH) return;
  float sum = bias[blockIdx.y];
  for (int c = 0; c < CI; ++c)
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
      for (int j = 0; j < 3; ++j) {
        const int r = 2 * y + i - 1, s = 2 * x + j - 1;
        if (r >= 0 && r < H && s >= 0 && s < H)
          sum += X[((blockIdx.z * CI + c) * H + r) * H + s] * W[((blockIdx.y * CI + c) * 3 + i) * 3 + j];
      }
  Y[((blockIdx.z * gridDim.y + blockIdx.y) * OH + y) * OH + x] = sum;
}
