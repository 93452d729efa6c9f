// SPDX-License-Identifier: Apache-2.0
// Row sums: a block per row, warps reduce by shuffles, one warp reduces the warps.
//@ torch   Y = X.sum(dim=1)
//@ size    N = 64, M = 1000
//@ check   N = 7, M = 333
//@ input   X: float32[N, M]
//@ output  Y: float32[N]
//@ launch  row_sum<<<N, 256>>>(X, Y, M)
__global__ void __launch_bounds__(256) row_sum(const float* __restrict__ X, float* __restrict__ Y, int M) {
  __shared__ float partial[32];
  const float* x = X + size_t(blockIdx.x) * M;
  float sum = 0;
  for (int i = threadIdx.x; i < M; i += blockDim.x) sum += __ldg(x + i);
  for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if ((threadIdx.x & 31) == 0) partial[threadIdx.x >> 5] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
    for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, offset);
    if (threadIdx.x == 0) Y[blockIdx.x] = sum;
  }
}
