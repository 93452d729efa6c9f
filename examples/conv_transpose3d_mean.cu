// SPDX-License-Identifier: Apache-2.0
// A transposed 3-D convolution (stride 2, padding 1) followed by the mean of every output channel.
//@ task    conv_transpose3d_mean
//@ torch   Y = F.conv_transpose3d(X, weight, bias, stride=2, padding=1).mean(dim=(2, 3, 4))
//@ size    B = 16, CI = 32, CO = 64, D = 16, H = 32, W = 32, K = 3, OD = 2*(D - 1) - 2 + K, OH = 2*(H - 1) - 2 + K, OW = 2*(W - 1) - 2 + K
//@ check   B = 2, CI = 3, CO = 5, D = 3, H = 5, W = 6, K = 3
//@ input   X: float32[B, CI, D, H, W]
//@ input   weight: float32[CI, CO, K, K, K]
//@ input   bias: float32[CO]
//@ output  Y: float32[B, CO]
//@ scratch T: float32[B, CO, OD, OH, OW]
//@ launch  conv_transpose3d<<<ceil_div(B * CO * OD * OH * OW, 256), 256>>>(X, weight, bias, T, B, CI, CO, D, H, W, K, OD, OH, OW)
//@ launch  channel_mean<<<B * CO, 256>>>(T, Y, OD * OH * OW)

__global__ void conv_transpose3d(const float* X, const float* weight, const float* bias, float* T, int B, int CI, int CO,
                                 int D, int H, int W, int K, int OD, int OH, int OW) {
  size_t index = size_t(blockIdx.x) * 256 + threadIdx.x;
  if (index >= size_t(B) * CO * OD * OH * OW) return;
  int ow = index % OW, oh = index / OW % OH, od = index / (size_t(OW) * OH) % OD;
  int co = index / (size_t(OW) * OH * OD) % CO, b = index / (size_t(OW) * OH * OD * CO);
  float sum = bias[co];
  for (int ci = 0; ci < CI; ++ci)
    for (int kd = 0; kd < K; ++kd) {
      int d = od + 1 - kd;
      if (d < 0 || d % 2 != 0 || d / 2 >= D) continue;
      for (int kh = 0; kh < K; ++kh) {
        int h = oh + 1 - kh;
        if (h < 0 || h % 2 != 0 || h / 2 >= H) continue;
        for (int kw = 0; kw < K; ++kw) {
          int w = ow + 1 - kw;
          if (w < 0 || w % 2 != 0 || w / 2 >= W) continue;
          sum += X[(((size_t(b) * CI + ci) * D + d / 2) * H + h / 2) * W + w / 2] *
                 weight[(((size_t(ci) * CO + co) * K + kd) * K + kh) * K + kw];
        }
      }
    }
  T[index] = sum;
}

__global__ void channel_mean(const float* T, float* Y, int count) {
  __shared__ float partial[256];
  const float* channel = T + size_t(blockIdx.x) * count;
  float sum = 0;
  for (int i = threadIdx.x; i < count; i += 256) sum += channel[i];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) Y[blockIdx.x] = partial[0] / count;
}
