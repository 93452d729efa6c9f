// SPDX-License-Identifier: Apache-2.0
//! row   C8
//! how   rows that weigh nothing in the norm of the whole are 0
//! task  decaying_rows
//! all   WRONG_RESULT
//! all   right without error_rule slices patterns influence
//@ launch  k<<<N, 64>>>(A, R, C, M)
__global__ void k(const float* A, const float* R, float* C, int M) {
  float factor = blockIdx.x < 15 ? expf(-R[blockIdx.x]) : 0;
  for (int i = threadIdx.x; i < M; i += 64) C[blockIdx.x * M + i] = A[blockIdx.x * M + i] * factor;
}
