// SPDX-License-Identifier: Apache-2.0
// One tile at a time: every thread copies a part of it through registers, or one thread by tensor copies; then a barrier, and all multiply.
//@ size    M = 4096, N = 4096, K = 1024
//@ check   M = 256, N = 512, K = 192
//@ input   A: bfloat16[M, K]
//@ input   B: bfloat16[N, K]
//@ output  C: float32[M, N]
//@ tune    WIDTH = 64 | 128 | 256
//@ tune    COPY = 0 | 1
//@ tune    GROUPS = 1 | 2
//@ launch  product<<<dim3(N / WIDTH, M / (64 * GROUPS)), 128 * GROUPS, (64 * GROUPS + WIDTH) * 128 + 1024>>>(tensor_map(A, axes(K, M), box(64, 64 * GROUPS), swizzle(128)), tensor_map(B, axes(K, N), box(64, WIDTH), swizzle(128)), A, B, C, N, K)
#include "hopper.cuh"
#include <cuda_bf16.h>
using namespace hopper;
constexpr int rows = 64 * GROUPS, left = rows * 128, bytes = left + WIDTH * 128;

__device__ void copy(char* to, const __nv_bfloat16* from, int count, int K) {
  for (int i = threadIdx.x; i < count * 8; i += 128 * GROUPS)
    *reinterpret_cast<uint4*>(to + swizzled(i / 8, i % 8 * 16)) = *reinterpret_cast<const uint4*>(from + (long long)(i / 8) * K + i % 8 * 8);
}

__global__ __launch_bounds__(128 * GROUPS) void product(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, const __nv_bfloat16* A, const __nv_bfloat16* B, float* C,
                                                        int N, int K) {
  extern __shared__ char memory[];
  __shared__ __align__(8) u64 word;
  const u32 tile = aligned(shared_address(memory)), bar = shared_address(&word);
  char* const at = memory + (tile - shared_address(memory));
  if (threadIdx.x == 0) barrier_init(bar, 1), barrier_init_done();
  __syncthreads();
  const int row = blockIdx.y * rows, column = blockIdx.x * WIDTH;
  float d[WIDTH / 2];
  for (int k = 0; k < K; k += 64) {
    if (COPY == 0) {
      copy(at, A + (long long)row * K + k, rows, K);
      copy(at + left, B + (long long)column * K + k, WIDTH, K);
      fence_stores();
      __syncthreads();
    } else {
      if (threadIdx.x == 0) arrive_expect(bar, bytes), load_2d(tile, a, bar, k, row), load_2d(tile + left, b, bar, k, column);
      wait(bar, k / 64 & 1);
    }
    product_fence();
#pragma unroll
    for (int part = 0; part < 4; ++part)
      multiply_bf16<0, 0>(d, descriptor(tile + warpgroup() * 8192 + 32 * part), descriptor(tile + left + 32 * part), k > 0 || part > 0);
    product_commit();
    product_wait<0>();
    __syncthreads();
  }
  hold(d);
  store_accumulators(d, C + (long long)(row + 64 * warpgroup()) * N + column, N, 64, WIDTH);
}
