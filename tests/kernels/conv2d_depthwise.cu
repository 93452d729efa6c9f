// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution of channels-first images with 5x5 windows.
//@ torch   Y = F.conv2d(X, W, padding=2, groups=6)
//@ size    N = 2, C = 6, H = 16
//@ check   N = 1, C = 6, H = 13
//@ input   X: float32[N, C, H, H]
//@ input   W: float32[C, 1, 5, 5]
//@ output  Y: float32[N, C, H, H]
//@ launch  conv<5><<<dim3(N * C, ceil_div(H * H, 64)), 64, 25 * 4>>>(X, W, Y, C, H)
template <int K>
__global__ void conv(const float* X, const float* W, float* Y, int C, int H) {
  extern __shared__ float window[];
  if (threadIdx.x < K * K) window[threadIdx.x] = W[blockIdx.x % C * K * K + threadIdx.x];
  __syncthreads();
  const int p = blockIdx.y * blockDim.x + threadIdx.x;
  if (p >= H * H) return;
  const float* x = X + blockIdx.x * H * H;
  float sum = 0;
  for (int i = 0; i < K; ++i) {
    const int r = p / H + i - K / 2;
    if (r < 0 || r >= H) continue;
    for (int j = 0; j < K; ++j) {
      const int s = p % H + j - K / 2;
      if (s >= 0 && s < H) sum = fmaf(window[i * K + j], x[r * H + s], sum);
    }
  }
  Y[blockIdx.x * H * H + p] = sum;
}
