// SPDX-License-Identifier: Apache-2.0
//! row   4.6
//! how   two kernels, the second needs the first, which takes a sum out of a loop
//! task  weighted
//! all   right
//@ scratch S: float32[1]
//@ launch  sum<<<1, 32>>>(W, S, K)
//@ launch  k<<<ceil_div(N, 256), 256>>>(A, S, C, N)
__global__ void sum(const float* W, float* S, int K) {
  float total = 0;
  for (int k = threadIdx.x; k < K; k += 32) total += W[k];
  for (int offset = 16; offset > 0; offset /= 2) total += __shfl_down_sync(0xffffffff, total, offset);
  if (threadIdx.x == 0) S[0] = total;
}
__global__ void k(const float* A, const float* S, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] * S[0];
}
