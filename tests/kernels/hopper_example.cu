// SPDX-License-Identifier: Apache-2.0
// The product that prompts show as an example of hopper.cuh (prompts/hopper.md), word for word.
//@ torch   C = A @ B.T
//@ size    M = 256, N = 256, K = 256
//@ check   M = 64, N = 128, K = 96
//@ input   A: float32[M, K]
//@ input   B: float32[N, K]
//@ output  C: float32[M, N]
//@ tolerance C: relative 3e-3 absolute 2e-2
//@ launch  product<<<dim3(N / 64, M / 64), 128, 2 * 8192 + 1024>>>(tensor_map(A, axes(K, M), box(32, 64), swizzle(128), type(tf32)), tensor_map(B, axes(K, N), box(32, 64), swizzle(128), type(tf32)), C, N, K)
#include "hopper.cuh"
using namespace hopper;

__global__ __launch_bounds__(128) void product(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* C, int N, int K) {
  extern __shared__ char memory[];
  __shared__ __align__(8) u64 word;
  const u32 left = aligned(shared_address(memory)), right = left + 8192, full = shared_address(&word);
  if (threadIdx.x == 0) barrier_init(full, 1), barrier_init_done();
  __syncthreads();
  float d[32];
  for (int k = 0; k < K; k += 32) {
    if (threadIdx.x == 0) {
      arrive_expect(full, 2 * 8192);
      load_2d(left, a, full, k, blockIdx.y * 64);
      load_2d(right, b, full, k, blockIdx.x * 64);
    }
    wait(full, k / 32 % 2);
    product_fence();
    for (int part = 0; part < 4; ++part) multiply_tf32(d, descriptor(left + 32 * part), descriptor(right + 32 * part), k + part > 0);
    product_commit();
    product_wait<0>();
    hold(d);
    __syncthreads();
  }
  store_accumulators(d, C + (long long)blockIdx.y * 64 * N + blockIdx.x * 64, N, 64, 64);
}
