// SPDX-License-Identifier: Apache-2.0
// Channels last: a permutation of four dimensions by 64-bit index arithmetic.
//@ torch   Y = X.permute(0, 2, 3, 1)
//@ size    N = 2, C = 8, H = 7, W = 9
//@ check   N = 3, C = 5, H = 4, W = 6
//@ input   X: float16[N, C, H, W]
//@ output  Y: float16[N, H, W, C]
//@ launch  permute<<<ceil_div(N * C * H * W, 128), 128>>>(X, Y, N, C, H, W)
#include <cuda_fp16.h>
__global__ void permute(const __half* X, __half* Y, long long N, long long C, long long H, long long W) {
  const long long i = blockIdx.x * 128ll + threadIdx.x;
  if (i >= N * C * H * W) return;
  const long long c = i % C, w = i / C % W, h = i / (C * W) % H, n = i / (C * W * H);
  Y[i] = X[((n * C + c) * H + h) * W + w];
}
