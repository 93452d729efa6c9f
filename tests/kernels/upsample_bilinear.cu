// SPDX-License-Identifier: Apache-2.0
// Bilinear enlargement by two with corners not aligned.
//@ size    N = 2, H = 10
//@ check   N = 1, H = 7
//@ input   X: float32[N, 1, H, H]
//@ output  Y: float32[N, 1, 2 * H, 2 * H]
//@ launch  enlarge<<<dim3(ceil_div(2 * H, 16), ceil_div(2 * H, 8), N), dim3(16, 8)>>>(X, Y, H)
__global__ void enlarge(const float* X, float* Y, int H) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= 2 * H || y >= 2 * H) return;
  const float u = fmaxf(0.5f * (x + 0.5f) - 0.5f, 0.0f), v = fmaxf(0.5f * (y + 0.5f) - 0.5f, 0.0f);
  const int i = int(u), j = int(v), i1 = min(i + 1, H - 1), j1 = min(j + 1, H - 1);
  const float* p = X + blockIdx.z * H * H;
  const float a = u - i, b = v - j;
  Y[(blockIdx.z * 2 * H + y) * 2 * H + x] = (1 - b) * ((1 - a) * p[j * H + i] + a * p[j * H + i1]) + b * ((1 - a) * p[j1 * H + i] + a * p[j1 * H + i1]);
}
