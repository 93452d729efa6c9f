//@ size    N = 8192, M = 4096
//@ check   N = 33, M = 70
//@ input   X: float32[N, M]
//@ input   bias: float32[M]
//@ output  Y: float32[N, M]
//@ launch  bias_relu<<<dim3(ceil_div(M, 32), ceil_div(N, 8)), dim3(32, 8)>>>(X, bias, Y, N, M)

__global__ void bias_relu(const float* X, const float* bias, float* Y, int N, int M) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= N || column >= M) return;
  size_t index = size_t(row) * M + column;
  float x = X[index] + bias[column];
  Y[index] = x > 0.0f ? x : 0.0f;
}
