// SPDX-License-Identifier: Apache-2.0
// Iterated smoothing with a barrier of its own between all blocks, on a counter that only grows.
//@ torch   A = torch.cat([X[:1], X, X[-1:]]); B = (A[:-2] + A[1:-1] + A[2:]) / 3; C = torch.cat([B[:1], B, B[-1:]]); D = (C[:-2] + C[1:-1] + C[2:]) / 3; E = torch.cat([D[:1], D, D[-1:]]); Y = (E[:-2] + E[1:-1] + E[2:]) / 3
//@ size    N = 1024
//@ check   N = 700
//@ input   X: float32[N]
//@ output  Y: float32[N]
//@ scratch T: float32[N]
//@ scratch C: int32[1] = 0
//@ launch  smooth<<<4, 64>>>(X, Y, T, C, N) cooperative
__device__ void meet(volatile int* C, int round) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(const_cast<int*>(C), 1);
    while (*C < round * gridDim.x) {}
    __threadfence();
  }
  __syncthreads();
}
__global__ void smooth(const float* X, volatile float* Y, volatile float* T, int* C, int N) {
  for (int i = blockIdx.x * 64 + threadIdx.x; i < N; i += 256) Y[i] = X[i];
  meet(C, 1);
  for (int step = 0; step < 3; ++step) {
    for (int i = blockIdx.x * 64 + threadIdx.x; i < N; i += 256) T[i] = (Y[max(i - 1, 0)] + Y[i] + Y[min(i + 1, N - 1)]) / 3;
    meet(C, 2 * step + 2);
    for (int i = blockIdx.x * 64 + threadIdx.x; i < N; i += 256) Y[i] = T[i];
    meet(C, 2 * step + 3);
  }
}
