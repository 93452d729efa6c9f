//@ size    N = 8192, M = 4096
//@ check   N = 33, M = 70
//@ input   X: float32[N, M]
//@ input   bias: float32[M]
//@ output  Y: float32[N, M]
//@ launch  gelu<<<ceil_div(N * M, 256), 256>>>(X, bias, Y, N * M, M)

__global__ void gelu(const float* X, const float* bias, float* Y, int count, int M) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float x = X[i] + bias[i % M];
  Y[i] = 0.5f * x * (1.0f + erff(x * 0.70710678f));
}
