// SPDX-License-Identifier: Apache-2.0
// A matrix times a vector without a torch line: one thread per row.
//@ task    matrix_vector
//@ size    N = 8192, M = 4096
//@ check   N = 33, M = 70
//@ input   A: float32[N, M]
//@ input   x: float32[M]
//@ output  y: float32[N]
//@ launch  matrix_vector<<<ceil_div(N, 256), 256>>>(A, x, y, N, M)

__global__ void matrix_vector(const float* A, const float* x, float* y, int N, int M) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < M; k++) sum += A[row * M + k] * x[k];
  y[row] = sum;
}
