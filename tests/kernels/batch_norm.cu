// SPDX-License-Identifier: Apache-2.0
// Batch statistics per channel, then the affine map, in two launches.
//@ torch   Y = F.batch_norm(X, None, None, weight, bias, True, 0.1, 1e-5)
//@ size    N = 8, C = 16, S = 100
//@ check   N = 3, C = 5, S = 33
//@ input   X: float32[N, C, S]
//@ input   weight: float32[C]
//@ input   bias: float32[C]
//@ output  Y: float32[N, C, S]
//@ scratch M: float32[C, 2]
//@ launch  statistics<<<C, 64>>>(X, M, N, C, S)
//@ launch  apply<<<ceil_div(N * C * S, 128), 128>>>(X, M, weight, bias, Y, N, C, S)
__global__ void statistics(const float* X, float2* M, int N, int C, int S) {
  __shared__ float2 s[64];
  float2 sums = {0, 0};
  for (int k = threadIdx.x; k < N * S; k += 64) {
    const float v = X[(k / S * C + blockIdx.x) * S + k % S];
    sums.x += v, sums.y += v * v;
  }
  s[threadIdx.x] = sums;
  __syncthreads();
  for (int half = 32; half; half >>= 1) {
    if (threadIdx.x < half) s[threadIdx.x].x += s[threadIdx.x + half].x, s[threadIdx.x].y += s[threadIdx.x + half].y;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    const float mean = s[0].x / (N * S);
    M[blockIdx.x] = make_float2(mean, rsqrtf(s[0].y / (N * S) - mean * mean + 1e-5f));
  }
}
__global__ void apply(const float* X, const float2* M, const float* weight, const float* bias, float* Y, int N, int C, int S) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N * C * S) return;
  const int c = i / S % C;
  Y[i] = (X[i] - M[c].x) * M[c].y * weight[c] + bias[c];
}
