// SPDX-License-Identifier: Apache-2.0
// A sum in two launches over partial sums in scratch memory.
//@ torch   Y = X.sum()
//@ size    N = 100000
//@ check   N = 5003
//@ input   X: float32[N]
//@ output  Y: float32
//@ scratch P: float32[16]
//@ launch  partial_sums<<<16, 128>>>(X, P, N)
//@ launch  last_sum<<<1, 32>>>(P, Y)
__global__ void partial_sums(const float* X, float* P, int N) {
  __shared__ float s[128];
  float sum = 0;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < N; i += 128 * gridDim.x) sum += X[i];
  s[threadIdx.x] = sum;
  for (int half = 64; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
  }
  if (threadIdx.x == 0) P[blockIdx.x] = s[0];
}
__global__ void last_sum(const float* P, float* Y) {
  float sum = threadIdx.x < 16 ? P[threadIdx.x] : 0;
  for (int offset = 8; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
  if (threadIdx.x == 0) *Y = sum;
}
