//@ size    N = 4096, M = 4096
//@ check   N = 33, M = 70
//@ input   X: float32[N, M]
//@ output  Y: float32[M, N]
//@ launch  transpose<<<dim3((M + 15) / 16, (N + 15) / 16), dim3(16, 16)>>>(X, Y, N, M)

__global__ void transpose(const float* X, float* Y, int N, int M) {
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int column = blockIdx.x * 16 + tx, row = blockIdx.y * 16 + ty;
  if (column >= M || row >= N) return;
  Y[(size_t)column * N + row] = 2.0f * X[(size_t)row * M + column];
}
