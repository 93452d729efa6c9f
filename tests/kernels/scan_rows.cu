// SPDX-License-Identifier: Apache-2.0
// Running sums along rows, a block for each row, with a carry from chunk to chunk.
//@ torch   Y = torch.cumsum(X, dim=1)
//@ size    N = 64, M = 1000
//@ check   N = 5, M = 300
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  scan<128><<<N, 128>>>(X, Y, M)
template <int THREADS>
__global__ void scan(const float* X, float* Y, int M) {
  __shared__ float sums[THREADS];
  __shared__ float carry;
  if (threadIdx.x == 0) carry = 0;
  for (int start = 0; start < M; start += THREADS) {
    const int i = start + threadIdx.x;
    sums[threadIdx.x] = i < M ? X[blockIdx.x * M + i] : 0.0f;
    __syncthreads();
    for (int offset = 1; offset < THREADS; offset <<= 1) {
      const float other = threadIdx.x >= offset ? sums[threadIdx.x - offset] : 0.0f;
      __syncthreads();
      sums[threadIdx.x] += other;
      __syncthreads();
    }
    if (i < M) Y[blockIdx.x * M + i] = sums[threadIdx.x] + carry;
    __syncthreads();
    if (threadIdx.x == 0) carry += sums[THREADS - 1];
    __syncthreads();
  }
}
