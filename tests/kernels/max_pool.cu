// SPDX-License-Identifier: Apache-2.0
// Max pooling with windows that overlap.
//@ torch   Y = F.max_pool2d(X, 3, stride=2, padding=1)
//@ size    N = 8, H = 32, OH = (H - 1) / 2 + 1
//@ check   N = 3, H = 15
//@ input   X: float32[N, 1, H, H]
//@ output  Y: float32[N, 1, OH, OH]
//@ launch  pool<<<ceil_div(N * OH * OH, 128), 128>>>(X, Y, N, H, OH)
#include <math.h>
__global__ void pool(const float* X, float* Y, int N, int H, int OH) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N * OH * OH) return;
  const int x = i % OH, y = i / OH % OH, n = i / (OH * OH);
  float most = -INFINITY;
  for (int r = max(0, 2 * y - 1); r < min(H, 2 * y + 2); ++r)
    for (int s = max(0, 2 * x - 1); s < min(H, 2 * x + 2); ++s) most = fmaxf(most, X[(n * H + r) * H + s]);
  Y[i] = most;
}
