// SPDX-License-Identifier: Apache-2.0
// A 3 x 3 convolution of 32 channels: threads along x (0) or along y (1), weights in shared memory (2), the input tile too (3);
// several output channels per thread.
//@ size    B = 4, S = 128
//@ check   B = 1, S = 32
//@ input   A: float32[B, 32, S, S]
//@ input   W: float32[32, 32, 3, 3]
//@ output  C: float32[B, 32, S, S]
//@ tune    FORM = 0 | 1 | 2 | 3
//@ tune    OUT = 1 | 4 | 8
//@ launch  convolution<<<dim3(S / 32, S / 8, B * 32 / OUT), 256>>>(A, W, C, S)

__global__ void convolution(const float* A, const float* W, float* C, int S) {
  int fast = threadIdx.x % 32, slow = threadIdx.x / 32;
  if (FORM == 1) fast = threadIdx.x / 8, slow = threadIdx.x % 8;
  int x0 = blockIdx.x * 32, y0 = blockIdx.y * 8, x = x0 + fast, y = y0 + slow;
  int image = blockIdx.z / (32 / OUT), out = blockIdx.z % (32 / OUT) * OUT;
  __shared__ float weights[FORM >= 2 ? OUT * 32 * 9 : 1], tile[FORM == 3 ? 10 : 1][FORM == 3 ? 34 : 1];
  if (FORM >= 2) {
    for (int i = threadIdx.x; i < OUT * 288; i += 256) weights[i] = W[out * 288 + i];
    __syncthreads();
  }
  float sum[OUT] = {};
  for (int c = 0; c < 32; ++c) {
    const float* a = A + (image * 32 + c) * S * S;
    if (FORM == 3) {
      __syncthreads();
      for (int i = threadIdx.x; i < 340; i += 256) {
        int ty = y0 + i / 34 - 1, tx = x0 + i % 34 - 1;
        tile[i / 34][i % 34] = tx >= 0 && ty >= 0 && tx < S && ty < S ? a[ty * S + tx] : 0.0f;
      }
      __syncthreads();
    }
#pragma unroll
    for (int dy = 0; dy < 3; ++dy)
#pragma unroll
      for (int dx = 0; dx < 3; ++dx) {
        float v;
        if (FORM == 3) {
          v = tile[slow + dy][fast + dx];
        } else {
          int tx = x + dx - 1, ty = y + dy - 1;
          v = tx >= 0 && ty >= 0 && tx < S && ty < S ? a[ty * S + tx] : 0.0f;
        }
#pragma unroll
        for (int o = 0; o < OUT; ++o)
          sum[o] += v * (FORM >= 2 ? weights[(o * 32 + c) * 9 + dy * 3 + dx] : W[((out + o) * 32 + c) * 9 + dy * 3 + dx]);
      }
  }
#pragma unroll
  for (int o = 0; o < OUT; ++o) C[((image * 32 + out + o) * S + y) * S + x] = sum[o];
}
