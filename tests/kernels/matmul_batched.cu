// SPDX-License-Identifier: Apache-2.0
// A batch of small products, one block each, both factors wholly in shared memory.
//@ torch   C = torch.bmm(A, B)
//@ size    S = 16, N = 16
//@ check   S = 5, N = 16
//@ input   A: float32[S, N, N]
//@ input   B: float32[S, N, N]
//@ output  C: float32[S, N, N]
//@ launch  matmul<16><<<S, dim3(16, 16)>>>(A, B, C)
template <int N>
__global__ void matmul(const float* A, const float* B, float* C) {
  __shared__ float a[N * N], b[N * N];
  const int i = threadIdx.y * N + threadIdx.x;
  const size_t start = size_t(blockIdx.x) * N * N;
  a[i] = A[start + i], b[i] = B[start + i];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < N; ++k) sum += a[threadIdx.y * N + k] * b[k * N + threadIdx.x];
  C[start + i] = sum;
}
