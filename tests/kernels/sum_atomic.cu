// SPDX-License-Identifier: Apache-2.0
// One floating atomic for each block onto an output that a memset cleared.
//@ torch   Y = X.sum()
//@ size    N = 100000
//@ check   N = 5003
//@ input   X: float32[N]
//@ output  Y: float32
//@ memset  Y = 0
//@ launch  sum<<<12, 128>>>(X, Y, N)
__global__ void sum(const float* X, float* Y, int N) {
  float total = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) total += X[i];
  __shared__ float s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  for (int offset = 16; offset > 0; offset >>= 1) total += __shfl_xor_sync(~0u, total, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(&s, total);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(Y, s);
}
