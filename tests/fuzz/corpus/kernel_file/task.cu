// SPDX-License-Identifier: Apache-2.0
// A diagonal matrix times a matrix, as torch.diag(A) @ B runs: the diagonal is written out, then multiplied in full.
//@ task    diag_matmul
//@ torch   C = torch.diag(A) @ B
//@ size    N = 4096, M = 4096
//@ check   N = 33, M = 70
//@ input   A: float32[N]
//@ input   B: float32[N, M]
//@ output  C: float32[N, M]
//@ scratch D: float32[N, N]
//@ launch  diagonal<<<dim3(ceil_div(N, 16), ceil_div(N, 16)), dim3(16, 16)>>>(A, D, N)
//@ launch  matmul<<<dim3(ceil_div(M, 16), ceil_div(N, 16)), dim3(16, 16)>>>(D, B, C, N, M)

__global__ void diagonal(const float* A, float* D, int N) {
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row < N && column < N) D[size_t(row) * N + column] = row == column ? A[row] : 0.0f;
}

__global__ void matmul(const float* D, const float* B, float* C, int N, int M) {
  __shared__ float left[16][16], right[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int start = 0; start < N; start += 16) {
    int k = start + threadIdx.x, l = start + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = row < N && k < N ? D[size_t(row) * N + k] : 0.0f;
    right[threadIdx.y][threadIdx.x] = l < N && column < M ? B[size_t(l) * M + column] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    __syncthreads();
  }
  if (row < N && column < M) C[size_t(row) * M + column] = sum;
}
