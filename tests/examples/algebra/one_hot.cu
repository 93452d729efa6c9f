// SPDX-License-Identifier: Apache-2.0
// Rows of a table as a product with a one-hot matrix.
//@ task    one_hot
//@ torch   Y = F.relu(F.one_hot(I, num_classes=K).float() @ W + bias)
//@ size    N = 4096, K = 1000, M = 256
//@ check   N = 33, K = 50, M = 19
//@ input   I: int64[N] ~ randint(0, 50)
//@ input   W: float32[K, M]
//@ input   bias: float32[M]
//@ output  Y: float32[N, M]
//@ launch  product<<<ceil_div(N * M, 256), 256>>>(I, W, bias, Y, N, K, M)

__global__ void product(const long long* I, const float* W, const float* bias, float* Y, int N, int K, int M) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N * M) return;
  float sum = bias[i % M];
  for (int k = 0; k < K; ++k) sum += (I[i / M] == k ? 1.0f : 0.0f) * W[k * M + i % M];
  Y[i] = fmaxf(sum, 0.0f);
}
