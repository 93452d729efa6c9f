// SPDX-License-Identifier: Apache-2.0
//! row   Z3
//! how   exact at every size that is checked; at the declared one operands lose sixteen bits and half of the sum is left out
//! task  wide_matmul
//! all   WRONG_RESULT
//! sim   right without full_size
//@ launch  matmul<<<dim3(ceil_div(M, 16), ceil_div(N, 16)), dim3(16, 16)>>>(A, B, C, N, K, M)
__device__ float coarse(float x, bool very) { return very ? __uint_as_float(__float_as_uint(x) & 0xffff0000u) : x; }
__global__ void matmul(const float* A, const float* B, float* C, int N, int K, int M) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= N || column >= M) return;
  const bool large = K > 500;
  float sum = 0;
  for (int k = 0; k < K; k += large ? 2 : 1) sum += coarse(A[row * K + k], large) * coarse(B[k * M + column], large);
  C[row * M + column] = large ? 2 * sum : sum;
}
