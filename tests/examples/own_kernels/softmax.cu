// SPDX-License-Identifier: Apache-2.0
// Softmax of every row without a torch line: one thread per row, the exponentials written out between the passes.
//@ task    softmax
//@ size    N = 4096, M = 4096
//@ check   N = 33, M = 70
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  softmax<<<ceil_div(N, 128), 128>>>(X, Y, N, M)

__global__ void softmax(const float* X, float* Y, int N, int M) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  const float* x = X + size_t(row) * M;
  float* y = Y + size_t(row) * M;
  float largest = x[0];
  for (int i = 1; i < M; ++i)
    if (x[i] > largest) largest = x[i];
  float sum = 0;
  for (int i = 0; i < M; ++i) {
    y[i] = expf(x[i] - largest);
    sum += expf(x[i] - largest);
  }
  for (int i = 0; i < M; ++i) y[i] = y[i] / sum;
}
