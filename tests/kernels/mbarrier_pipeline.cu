// SPDX-License-Identifier: Apache-2.0
// A producing warp and three consuming ones hand two buffers over through mbarrier objects.
//@ torch   Y = X * X + 1
//@ size    N = 3072
//@ check   N = 1536
//@ input   X: float32[N]
//@ output  Y: float32[N]
//@ launch  pipeline<<<1, 128>>>(X, Y, N / 96)
__device__ void init(unsigned long long* barrier, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(barrier)), "r"(count) : "memory");
}
__device__ void arrive(unsigned long long* barrier) {
  asm volatile("{.reg.b64 state; mbarrier.arrive.shared.b64 state, [%0];}" ::"r"((unsigned)__cvta_generic_to_shared(barrier)) : "memory");
}
__device__ void wait(unsigned long long* barrier, int parity) {
  unsigned done = 0;
  while (!done)
#if __CUDA_ARCH__ >= 900
    asm volatile("{.reg.pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                 : "=r"(done) : "r"((unsigned)__cvta_generic_to_shared(barrier)), "r"(parity) : "memory");
#else
    asm volatile("{.reg.pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                 : "=r"(done) : "r"((unsigned)__cvta_generic_to_shared(barrier)), "r"(parity) : "memory");
#endif
}
__global__ void pipeline(const float* X, float* Y, int tiles) {
  __shared__ float buffer[2][96];
  __shared__ unsigned long long full[2], empty[2];
  if (threadIdx.x < 2) init(full + threadIdx.x, 32), init(empty + threadIdx.x, 96);
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int t = 0; t < tiles; ++t) {
      wait(empty + t % 2, t / 2 % 2 ^ 1);
      for (int k = 0; k < 3; ++k) buffer[t % 2][32 * k + threadIdx.x] = X[96 * t + 32 * k + threadIdx.x];
      arrive(full + t % 2);
    }
  } else {
    for (int t = 0; t < tiles; ++t) {
      wait(full + t % 2, t / 2 % 2);
      const float x = buffer[t % 2][threadIdx.x - 32];
      arrive(empty + t % 2);
      Y[96 * t + threadIdx.x - 32] = x * x + 1;
    }
  }
}
