// SPDX-License-Identifier: Apache-2.0
// Functions of hopper.cuh that no other kernel here calls: copies of all ranks, bulk additions, named barriers, stmatrix.
//@ torch   Y = X * 4; Z = X * 4; H = X * 1
//@ size    N = 65536
//@ check   N = 512
//@ check   N = 1040
//@ input   X: float32[N]
//@ output  Y: float32[N]
//@ output  Z: float32[N]
//@ output  H: float16[N]
//@ scratch T: float32[ceil_div(N, 256) * 256]
//@ memset  Y = 0
//@ launch  twice<<<ceil_div(N, 256), 128>>>(tensor_map(X, axes(N), box(256)), T)
//@ launch  boxes<<<ceil_div(N, 256), 128>>>(tensor_map(T, axes(16, 4, 2, 2, ceil_div(N, 256)), box(16, 4, 2, 2, 1)), tensor_map(T, axes(16, 4, 4, ceil_div(N, 256)), box(16, 4, 4, 1)), tensor_map(Y, axes(16, N / 16), box(16, 16)), tensor_map(Z, axes(16, N / 16), box(16, 16)))
//@ launch  matrices<<<ceil_div(N, 256), 32>>>(T, H, N)
#include "hopper.cuh"
#include <cuda_fp16.h>
using namespace hopper;

// T = 4 X: half of it stored, the other half added.
__global__ void twice(const __grid_constant__ CUtensorMap in, float* T) {
  __shared__ __align__(128) float part[256];
  __shared__ __align__(8) u64 word;
  const u32 bar = shared_address(&word);
  if (threadIdx.x == 0) barrier_init(bar, 1), barrier_init_done();
  __syncthreads();
  if (threadIdx.x == 0) expect(bar, 1024), load_1d(shared_address(part), in, bar, blockIdx.x * 256), arrive(bar);
  wait(bar, 0);
  part[threadIdx.x] *= 2, part[threadIdx.x + 128] *= 2;
  fence_stores();
  if (threadIdx.x >= 32) return named_arrive(1, 128);
  named_wait(1, 128);
  if (!elected()) return;
  float* const to = T + blockIdx.x * 256;
  bulk_store(to, shared_address(part), 1024), bulk_commit(), bulk_wait<0>();
  bulk_add(to, shared_address(part), 1024), bulk_commit(), bulk_wait_read<0>();
  bulk_wait<0>();
}

__global__ void boxes(const __grid_constant__ CUtensorMap five, const __grid_constant__ CUtensorMap four, const __grid_constant__ CUtensorMap y, const __grid_constant__ CUtensorMap z) {
  __shared__ __align__(128) float part[2][256];
  __shared__ __align__(8) u64 word;
  const u32 bar = shared_address(&word);
  if (threadIdx.x == 0) barrier_init(bar, 1), barrier_init_done();
  __syncthreads();
  if (threadIdx.x > 0) return;
  arrive_expect(bar, 2048);
  load_5d(shared_address(part[0]), five, bar, 0, 0, 0, 0, blockIdx.x);
  load_4d(shared_address(part[1]), four, bar, 0, 0, 0, blockIdx.x);
  wait(bar, 0);
  add_2d(y, shared_address(part[0]), 0, 16 * blockIdx.x);
  store_2d(z, shared_address(part[1]), 0, 16 * blockIdx.x);
  bulk_commit(), bulk_wait<0>();
}

// H = T / 4 in halves, by way of four matrices of 8 by 8.
__global__ void matrices(const float* T, __half* H, int N) {
  __shared__ __align__(128) float part[256];
  __shared__ __align__(128) __half out[256];
  __shared__ __align__(8) u64 word;
  const u32 bar = shared_address(&word), lane = threadIdx.x;
  if (lane == 0) barrier_init(bar, 1), barrier_init_done(), arrive_expect(bar, 1024), bulk_load(shared_address(part), T + blockIdx.x * 256, 1024, bar);
  __syncwarp();
  wait(bar, 0);
  u32 packed[4];
  for (int m = 0; m < 4; ++m) packed[m] = halves(part[64 * m + 2 * lane] / 4, part[64 * m + 2 * lane + 1] / 4);
  store_matrices(shared_address(out) + 16 * lane, packed[0], packed[1], packed[2], packed[3]);
  __syncwarp();
  for (int i = lane; i < 256; i += 32)
    if (blockIdx.x * 256 + i < N) H[blockIdx.x * 256 + i] = out[i];
}
