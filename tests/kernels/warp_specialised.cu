// SPDX-License-Identifier: Apache-2.0
// One warp loads, three compute; named barriers pass two buffers to and fro.
//@ torch   Y = torch.exp(X) + 1
//@ size    N = 3072
//@ check   N = 1536
//@ input   X: float32[N]
//@ output  Y: float32[N]
//@ launch  pipeline<<<1, 128>>>(X, Y, N / 96)
__device__ void arrive(int id) { asm volatile("bar.arrive %0, 128;" ::"r"(id) : "memory"); }
__device__ void wait(int id) { asm volatile("bar.sync %0, 128;" ::"r"(id) : "memory"); }
__global__ void pipeline(const float* X, float* Y, int tiles) {
  __shared__ float buffer[2][96];
  if (threadIdx.x < 32) {
    for (int t = 0; t < tiles; ++t) {
      if (t >= 2) wait(3 + t % 2);
      for (int k = 0; k < 3; ++k) buffer[t % 2][32 * k + threadIdx.x] = X[96 * t + 32 * k + threadIdx.x];
      arrive(1 + t % 2);
    }
  } else {
    for (int t = 0; t < tiles; ++t) {
      wait(1 + t % 2);
      Y[96 * t + threadIdx.x - 32] = expf(buffer[t % 2][threadIdx.x - 32]) + 1;
      if (t + 2 < tiles) arrive(3 + t % 2);
    }
  }
}
