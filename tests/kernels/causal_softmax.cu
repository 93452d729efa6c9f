// SPDX-License-Identifier: Apache-2.0
// Softmax under a causal mask, one warp for each row.
//@ torch   Y = torch.softmax(X + torch.triu(torch.full((N, N), -1e9), diagonal=1), dim=1)
//@ size    N = 64
//@ check   N = 45
//@ input   X: float32[N, N]
//@ output  Y: float32[N, N]
//@ launch  softmax<<<ceil_div(N, 4), dim3(32, 4)>>>(X, Y, N)
__global__ void softmax(const float* X, float* Y, int N) {
  const int row = blockIdx.x * 4 + threadIdx.y;
  if (row >= N) return;
  float most = -1e9f, sum = 0;
  for (int i = threadIdx.x; i <= row; i += 32) most = max(most, X[row * N + i]);
  for (int o = 16; o; o >>= 1) most = max(most, __shfl_xor_sync(~0u, most, o));
  for (int i = threadIdx.x; i <= row; i += 32) sum += __expf(X[row * N + i] - most);
  for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
  for (int i = threadIdx.x; i < N; i += 32) Y[row * N + i] = i <= row ? __expf(X[row * N + i] - most) / sum : 0.0f;
}
