// SPDX-License-Identifier: Apache-2.0
// TF32 product of one warpgroup: tiles by tensor maps that round, B's rows outermost; A once from shared memory, once from registers.
//@ torch   C = A @ B.T
//@ size    M = 256, N = 256, K = 256
//@ check   M = 64, N = 64, K = 96
//@ check   M = 100, N = 52, K = 36
//@ input   A: float32[M, K]
//@ input   B: float32[N, K]
//@ output  C: float32[M, N]
//@ tolerance C: relative 3e-3 absolute 2e-2
//@ launch  product<<<dim3(ceil_div(N, 64), ceil_div(M, 64)), 128, 16384 + 1024>>>(tensor_map(A, axes(K, M), box(32, 64), swizzle(128), type(tf32)), tensor_map(B, axes(K, N), box(32, 64), swizzle(128), type(tf32)), C, M, N, K)
#include "hopper.cuh"
using namespace hopper;
__global__ __launch_bounds__(128) void product(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* C, int M, int N, int K) {
  extern __shared__ char memory[];
  __shared__ __align__(8) u64 word;
  const u32 left = aligned(shared_address(memory)), right = left + 8192, bar = shared_address(&word);
  char* const bytes = memory + (left - shared_address(memory));
  if (threadIdx.x == 0) barrier_init(bar, 1), barrier_init_done();
  __syncthreads();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float d[32];
  for (int k = 0; k < K; k += 32) {
    if (threadIdx.x == 0) {
      arrive_expect(bar, 16384);
      load_2d(left, a, bar, k, blockIdx.y * 64);
      load_2d(right, b, bar, k, blockIdx.x * 64);
    }
    wait(bar, k / 32 & 1);
    product_fence();
    multiply_tf32(d, descriptor(left), descriptor(right), k > 0);
    multiply_tf32(d, descriptor(left + 32), descriptor(right + 32), 1);
    product_commit();
    product_wait<0>();
    hold(d);
    // The other half of the tile with A's fragments from registers.
    u32 f[2][4];
    for (int part = 0; part < 2; ++part)
      for (int r = 0; r < 4; ++r)
        f[part][r] = *reinterpret_cast<const u32*>(bytes + swizzled(16 * warp + lane / 4 + r % 2 * 8, 4 * (16 + 8 * part + lane % 4 + r / 2 * 4)));
    product_fence();
    multiply_tf32(d, f[0], descriptor(right + 64), 1);
    multiply_tf32(d, f[1], descriptor(right + 96), 1);
    product_commit();
    product_wait<0>();
    hold(d);
    __syncthreads();
  }
  const int row = blockIdx.y * 64, column = blockIdx.x * 64;
  store_accumulators(d, C + (long long)row * N + column, N, M - row, N - column);
}
