// SPDX-License-Identifier: Apache-2.0
// Three stages of cp.async in flight, written as inline assembly.
//@ torch   C = A @ B
//@ size    N = 64, K = 64, M = 64
//@ check   N = 32, K = 80, M = 64
//@ input   A: float32[N, K]
//@ input   B: float32[K, M]
//@ output  C: float32[N, M]
//@ launch  matmul<<<dim3(M / 32, N / 32), 128>>>(A, B, C, K, M)
__device__ __forceinline__ void copy16(void* to, const void* from) {
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(at), "l"(from));
}
__global__ void matmul(const float* A, const float* B, float* C, int K, int M) {
  constexpr int stages = 3;
  __shared__ __align__(16) float a[stages][32][16], b[stages][16][32];
  const int t = threadIdx.x, row = blockIdx.y * 32, column = blockIdx.x * 32, steps = K / 16;
  const auto fetch = [&](int step) {
    if (step < steps) {
      copy16(&a[step % stages][t / 4][t % 4 * 4], &A[(row + t / 4) * K + step * 16 + t % 4 * 4]);
      copy16(&b[step % stages][t / 8][t % 8 * 4], &B[(step * 16 + t / 8) * M + column + t % 8 * 4]);
    }
    asm volatile("cp.async.commit_group;\n");
  };
  float sum[8] = {};
  fetch(0), fetch(1);
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group 1;\n");
    __syncthreads();
    fetch(step + 2);
    for (int k = 0; k < 16; ++k)
      for (int r = 0; r < 8; ++r) sum[r] = fmaf(a[step % stages][t / 32 * 8 + r][k], b[step % stages][k][t % 32], sum[r]);
  }
  asm volatile("cp.async.wait_all;\n");
  for (int r = 0; r < 8; ++r) C[(row + t / 32 * 8 + r) * M + column + t % 32] = sum[r];
}
