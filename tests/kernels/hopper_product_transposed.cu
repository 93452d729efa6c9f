// SPDX-License-Identifier: Apache-2.0
// Half product whose B is row-major and whose A is column-major: both tiles have k outermost.
//@ torch   C = A.T @ B
//@ size    M = 256, N = 256, K = 256
//@ check   M = 64, N = 128, K = 96
//@ check   M = 72, N = 136, K = 40
//@ input   A: float16[K, M]
//@ input   B: float16[K, N]
//@ output  C: float32[M, N]
//@ launch  product<<<dim3(ceil_div(N, 128), ceil_div(M, 64)), 128, 12288 + 1024>>>(tensor_map(A, axes(M, K), box(64, 32), swizzle(128)), tensor_map(B, axes(N, K), box(64, 32), swizzle(128)), C, M, N, K)
#include "hopper.cuh"
using namespace hopper;
__global__ __launch_bounds__(128) void product(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* C, int M, int N, int K) {
  extern __shared__ char memory[];
  __shared__ __align__(8) u64 word;
  const u32 left = aligned(shared_address(memory)), right = left + 4096, bar = shared_address(&word);
  if (threadIdx.x == 0) barrier_init(bar, 1), barrier_init_done();
  __syncthreads();
  float d[64];
  for (int k = 0; k < K; k += 32) {
    if (elected() && threadIdx.x < 32) {
      arrive_expect(bar, 12288);
      load_2d(left, a, bar, blockIdx.y * 64, k);
      load_2d(right, b, bar, blockIdx.x * 128, k);
      load_2d(right + 4096, b, bar, blockIdx.x * 128 + 64, k);
    }
    wait(bar, k / 32 & 1);
    product_fence();
    multiply_f16<1, 1>(d, transposed_descriptor(left, 4096), transposed_descriptor(right, 4096), k > 0);
    multiply_f16<1, 1>(d, transposed_descriptor(left + 2048, 4096), transposed_descriptor(right + 2048, 4096), 1);
    product_commit();
    product_wait<0>();
    hold(d);
    __syncthreads();
  }
  const int row = blockIdx.y * 64, column = blockIdx.x * 128;
  store_accumulators(d, C + (long long)row * N + column, N, M - row, N - column);
}
