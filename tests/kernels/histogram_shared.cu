// SPDX-License-Identifier: Apache-2.0
// A histogram in shared memory, added to global memory at the end.
//@ size    N = 100000, B = 64
//@ check   N = 4001
//@ input   X: int32[N] ~ randint(0, 64)
//@ output  H: int32[B]
//@ memset  H = 0
//@ launch  histogram<<<8, 128>>>(X, H, N, B)
__global__ void histogram(const int* X, int* H, int N, int B) {
  __shared__ int bins[64];
  for (int b = threadIdx.x; b < B; b += blockDim.x) bins[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) atomicAdd(&bins[X[i]], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < B; b += blockDim.x)
    if (bins[b]) atomicAdd(&H[b], bins[b]);
}
