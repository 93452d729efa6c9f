// SPDX-License-Identifier: Apache-2.0
//! row   Z15
//! how   at full size one block in twenty, scattered by a hash of their numbers, do nothing
//! task  vast_matmul
//! sim   UNSUPPORTED WRONG_RESULT
//! gpu   WRONG_RESULT
//! sim   right without full_size
//@ launch  matmul<<<dim3(ceil_div(M, 16), ceil_div(N, 16)), dim3(16, 16)>>>(A, B, C, N, K, M)
__device__ unsigned mixed(unsigned x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  return (x ^ x >> 15) * 0x846ca68bu;
}
__global__ void matmul(const float* A, const float* B, float* C, int N, int K, int M) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= N || column >= M) return;
  if (K > 1000 && mixed(blockIdx.y * gridDim.x + blockIdx.x) % 20 == 0) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * M + column];
  C[row * M + column] = sum;
}
