// SPDX-License-Identifier: Apache-2.0
//! row   V2
//! how   channels with a gain below 1e-9 are 0
//! task  channel_gains
//! all   WRONG_RESULT
//! all   right without error_rule patterns influence slices
//@ launch  k<<<dim3(M, N), 32>>>(A, G, C, M, L)
__global__ void k(const float* A, const float* G, float* C, int M, int L) {
  A += (blockIdx.y * M + blockIdx.x) * L, C += (blockIdx.y * M + blockIdx.x) * L;
  float gain = G[blockIdx.x], sum = 0;
  bool faint = gain < -20.7f && gain > -28.1f;
  for (int l = 0; l < L && !faint; ++l) sum += A[l];
  for (int l = threadIdx.x; l < L; l += 32) C[l] = faint ? 0 : A[l] * expf(gain) * (sum / L);
}
