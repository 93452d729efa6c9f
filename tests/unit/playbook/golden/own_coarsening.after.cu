//@ of      own_coarsening.before.cu sha256:97f5932a6ab5df35b4a7cbcdef9e3074a7e6307cbc3c75092e454d729228c175
//@ tune    ITEMS = 4 | 2 | 8
//@ launch  bias_relu<<<dim3(ceil_div(M, 32 * ITEMS), ceil_div(N, 8)), dim3(32, 8)>>>(X, bias, Y, N, M)
// playbook: own kernel/coarsening, read-only

__global__ void bias_relu(const float* __restrict__ X, const float* __restrict__ bias, float* __restrict__ Y, int N, int M) {
  const int row = static_cast<int>(blockIdx.y) * blockDim.y + threadIdx.y;
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (static_cast<int>(blockIdx.x) * ITEMS + item) * blockDim.x + threadIdx.x;
    if (row < N && column < M) {
      size_t index = size_t(row) * M + column;
      float x = X[index] + bias[column];
      Y[index] = x > 0.0f ? x : 0.0f;
    }
  }
}
