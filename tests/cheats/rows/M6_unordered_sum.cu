// SPDX-License-Identifier: Apache-2.0
//! row   M6
//! how   many blocks add to one element without an atomic
//! task  row_sum
//! sim   SANITIZER_FAILED WRONG_RESULT
//! gpu   WRONG_RESULT
//@ launch  clear<<<ceil_div(N, 256), 256>>>(C, N)
//@ launch  k<<<dim3(64, N), 64>>>(A, C, M)
__global__ void clear(float* C, int N) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) C[i] = 0;
}
__global__ void k(const float* A, float* C, int M) {
  for (int i = blockIdx.x * 64 + threadIdx.x; i < M; i += 64 * 64)
    ((volatile float*)C)[blockIdx.y] = ((volatile float*)C)[blockIdx.y] + A[blockIdx.y * M + i];
}
