// SPDX-License-Identifier: Apache-2.0
// Patches unrolled into scratch memory, then a matrix product.
//@ torch   Y = F.conv2d(X, W)
//@ size    C = 4, O = 8, H = 16, P = (H - 2) * (H - 2)
//@ check   C = 3, O = 6, H = 9
//@ input   X: float32[1, C, H, H]
//@ input   W: float32[O, C, 3, 3]
//@ output  Y: float32[1, O, H - 2, H - 2]
//@ scratch U: float32[9 * C, P]
//@ launch  unroll<<<dim3(ceil_div(P, 64), 9 * C), 64>>>(X, U, H, P)
//@ launch  multiply<<<dim3(ceil_div(P, 32), O), 32>>>(W, U, Y, 9 * C, P)
__global__ void unroll(const float* X, float* U, int H, int P) {
  const int p = blockIdx.x * 64 + threadIdx.x, k = blockIdx.y, w = H - 2;
  if (p < P) U[k * P + p] = X[(k / 9 * H + p / w + k % 9 / 3) * H + p % w + k % 3];
}
__global__ void multiply(const float* W, const float* U, float* Y, int K, int P) {
  const int p = blockIdx.x * 32 + threadIdx.x;
  if (p >= P) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += W[blockIdx.y * K + k] * U[k * P + p];
  Y[blockIdx.y * P + p] = sum;
}
