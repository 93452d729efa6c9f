// SPDX-License-Identifier: Apache-2.0
// Forward substitution, a warp for each right-hand side, the solution in shared memory.
//@ size    N = 32, R = 8
//@ check   N = 24, R = 5
//@ input   L: float32[N, N]
//@ input   B: float32[R, N]
//@ output  X: float32[R, N]
//@ launch  solve<<<R, 32>>>(L, B, X, N)
__global__ void solve(const float* L, const float* B, float* X, int N) {
  __shared__ volatile float x[64];
  for (int i = 0; i < N; ++i) {
    float sum = 0;
    for (int k = threadIdx.x; k < i; k += 32) sum += L[i * N + k] * 0.1f * x[k];
    for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
    if (threadIdx.x == 0) x[i] = (B[blockIdx.x * N + i] - sum) / (fabsf(L[i * N + i]) + 2.0f);
    __syncwarp();
  }
  if (threadIdx.x < N) X[blockIdx.x * N + threadIdx.x] = x[threadIdx.x];
}
