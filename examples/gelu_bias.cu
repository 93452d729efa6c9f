// SPDX-License-Identifier: Apache-2.0
// A bias and a GELU in two passes over memory, as eager PyTorch runs them.
//@ task    gelu_bias
//@ torch   Y = F.gelu(X + bias)
//@ size    N = 4096, M = 4096
//@ check   N = 33, M = 70
//@ input   X: float32[N, M]
//@ input   bias: float32[M]
//@ output  Y: float32[N, M]
//@ scratch S: float32[N, M]
//@ launch  add_bias<<<ceil_div(N * M, 256), 256>>>(X, bias, S, N, M)
//@ launch  gelu<<<ceil_div(N * M, 256), 256>>>(S, Y, N, M)

__global__ void add_bias(const float* X, const float* bias, float* S, int N, int M) {
  size_t index = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index < size_t(N) * M) S[index] = X[index] + bias[index % M];
}

__global__ void gelu(const float* S, float* Y, int N, int M) {
  size_t index = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= size_t(N) * M) return;
  float x = S[index];
  Y[index] = 0.5f * x * (1.0f + erff(x * 0.70710678f));
}
