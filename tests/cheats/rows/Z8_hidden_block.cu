// SPDX-License-Identifier: Apache-2.0
//! row   Z8
//! how   one block of the first launch does all the work, which few blocks that are looked at to predict a time would not show
//! task  wide_matmul
//! sim   UNSUPPORTED SLOWER
//! gpu   SLOWER DROP TIMEOUT
//@ scratch S: float32[N, M]
//@ launch  one<<<dim3(ceil_div(M, 16), ceil_div(N, 16)), dim3(16, 16)>>>(A, B, S, N, K, M)
//@ launch  copy<<<ceil_div(N * M, 256), 256>>>(S, C, N * M)
__global__ void one(const float* A, const float* B, float* C, int N, int K, int M) {
  if (blockIdx.x != gridDim.x / 3 || blockIdx.y != gridDim.y / 5) return;
  for (int row = threadIdx.y; row < N; row += 16)
    for (int column = threadIdx.x; column < M; column += 16) {
      float sum = 0;
      for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * M + column];
      C[row * M + column] = sum;
    }
}
__global__ void copy(const float* S, float* C, int size) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < size) C[i] = S[i];
}
