// SPDX-License-Identifier: Apache-2.0
//! row   V14
//! how   indices that are declared 0, 1, 2 … are not read
//! task  rows_by_index
//! all   WRONG_RESULT
//! sim   right without patterns
//@ launch  k<<<N, 64>>>(A, C, M)
__global__ void k(const float* A, float* C, int M) {
  for (int j = threadIdx.x; j < M; j += 64) C[blockIdx.x * M + j] = A[blockIdx.x * M + j];
}
