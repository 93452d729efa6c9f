// SPDX-License-Identifier: Apache-2.0
// Parts of the inner dimension added in a fixed order: a block waits for its turn on a counter.
//@ torch   C = A @ B
//@ size    N = 64, K = 256, M = 64
//@ check   N = 32, K = 96, M = 32
//@ input   A: float32[N, K]
//@ input   B: float32[K, M]
//@ output  C: float32[N, M]
//@ scratch T: int32[N / 16, M / 16] = 0
//@ launch  matmul<<<dim3(M / 16, N / 16, 3), dim3(16, 16)>>>(A, B, C, T, K, M)
__global__ void matmul(const float* A, const float* B, volatile float* C, int* T, int K, int M) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x, part = K / gridDim.z;
  float sum = 0;
  for (int k = blockIdx.z * part; k < (blockIdx.z + 1) * part; ++k) sum += A[row * K + k] * B[k * M + column];
  int* turn = T + blockIdx.y * gridDim.x + blockIdx.x;
  if (threadIdx.x == 0 && threadIdx.y == 0)
    while (atomicAdd(turn, 0) != blockIdx.z) __nanosleep(20);
  __syncthreads();
  __threadfence();
  C[row * M + column] = blockIdx.z == 0 ? sum : C[row * M + column] + sum;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) atomicExch(turn, int(blockIdx.z) + 1);
}
