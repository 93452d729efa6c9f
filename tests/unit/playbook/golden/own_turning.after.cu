//@ of      own_turning.before.cu sha256:76d6a333c275ad2b1bf1b5a85b9db9362be34ead785f7272e6be7254fd51adeb
//@ launch  transpose<<<dim3(ceil_div(M, 32), ceil_div(N, 32)), dim3(32, 8)>>>(X, Y, N, M)
// playbook: own kernel/turning, read-only

__global__ void transpose(const float* __restrict__ X, float* __restrict__ Y, int N, int M) {
  __shared__ float X_tile[32][33];
#pragma unroll
  for (int line = threadIdx.y; line < 32; line += 8) {
    const int row = static_cast<int>(blockIdx.y) * 32 + line;
    const int column = static_cast<int>(blockIdx.x) * 32 + threadIdx.x;
    if (row < N && column < M) {
      X_tile[threadIdx.x][line] = X[(size_t)row * M + column];
    }
  }
  __syncthreads();
#pragma unroll
  for (int line = threadIdx.y; line < 32; line += 8) {
    const int row = static_cast<int>(blockIdx.y) * 32 + threadIdx.x;
    const int column = static_cast<int>(blockIdx.x) * 32 + line;
    if (row < N && column < M) {
      Y[(size_t)column * N + row] = 2.0f * X_tile[line][threadIdx.x];
    }
  }
}
