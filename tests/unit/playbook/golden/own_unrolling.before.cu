//@ size    N = 1024, M = 512
//@ check   N = 33, M = 70
//@ input   X: float32[N, M]
//@ output  Y: float32[N]
//@ launch  row_sum<<<ceil_div(N, 128), 128>>>(X, Y, N, M)

__global__ void row_sum(const float* X, float* Y, int N, int M) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  float sum = 0;
  for (int i = 0; i < M; ++i) sum += X[size_t(row) * M + i];
  Y[row] = sum;
}
