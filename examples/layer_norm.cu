// SPDX-License-Identifier: Apache-2.0
// Layer normalisation over the last dimension: one thread per row, three passes.
//@ task    layer_norm
//@ torch   Y = F.layer_norm(X, (M,), weight, bias, 1e-5)
//@ size    N = 8192, M = 2048
//@ check   N = 33, M = 70
//@ input   X: float32[N, M]
//@ input   weight: float32[M]
//@ input   bias: float32[M]
//@ output  Y: float32[N, M]
//@ launch  layer_norm<<<ceil_div(N, 128), 128>>>(X, weight, bias, Y, N, M)

__global__ void layer_norm(const float* X, const float* weight, const float* bias, float* Y, int N, int M) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  const float* x = X + size_t(row) * M;
  float mean = 0;
  for (int i = 0; i < M; ++i) mean += x[i];
  mean /= M;
  float variance = 0;
  for (int i = 0; i < M; ++i) variance += (x[i] - mean) * (x[i] - mean);
  variance /= M;
  float scale = rsqrtf(variance + 1e-5f);
  for (int i = 0; i < M; ++i) Y[size_t(row) * M + i] = (x[i] - mean) * scale * weight[i] + bias[i];
}
