// SPDX-License-Identifier: Apache-2.0
// Root-mean-square normalisation in two steps: the scale of every row, then every element.
//@ task    rms_norm
//@ torch   Y = X * torch.rsqrt((X * X).mean(dim=-1, keepdim=True) + 1e-5) * weight
//@ size    N = 8192, M = 2048
//@ check   N = 33, M = 70
//@ input   X: float32[N, M]
//@ input   weight: float32[M]
//@ output  Y: float32[N, M]
//@ scratch S: float32[N]
//@ launch  row_scale<<<N, 256>>>(X, S, M)
//@ launch  apply<<<dim3(ceil_div(M, 256), N), 256>>>(X, S, weight, Y, M)

__global__ void row_scale(const float* X, float* S, int M) {
  __shared__ float partial[256];
  const float* x = X + size_t(blockIdx.x) * M;
  float sum = 0;
  for (int i = threadIdx.x; i < M; i += 256) sum += x[i] * x[i];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) S[blockIdx.x] = rsqrtf(partial[0] / M + 1e-5f);
}

__global__ void apply(const float* X, const float* S, const float* weight, float* Y, int M) {
  int column = blockIdx.x * 256 + threadIdx.x;
  size_t index = size_t(blockIdx.y) * M + column;
  if (column < M) Y[index] = X[index] * S[blockIdx.y] * weight[column];
}
