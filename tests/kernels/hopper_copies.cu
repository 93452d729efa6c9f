// SPDX-License-Identifier: Apache-2.0
// A volume is copied box by box through shared memory, in by a map of three dimensions, out by another, with what lies outside left out;
// each element is doubled on the way.
//@ torch   Y = X * 2
//@ size    D = 64, H = 64, W = 64
//@ check   D = 5, H = 7, W = 20
//@ check   D = 4, H = 8, W = 32
//@ input   X: float32[D, H, W]
//@ output  Y: float32[D, H, W]
//@ launch  copies<<<dim3(ceil_div(W, 16), ceil_div(H, 4), ceil_div(D, 2)), 128>>>(tensor_map(X, axes(W, H, D), box(16, 4, 2), swizzle(64)), tensor_map(Y, axes(W, H, D), box(16, 4, 2), swizzle(64)))
#include "hopper.cuh"
using namespace hopper;
__global__ void copies(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out) {
  __shared__ __align__(1024) float box[128];
  __shared__ __align__(8) u64 word;
  const u32 bar = shared_address(&word);
  if (threadIdx.x == 0) barrier_init(bar, 1), barrier_init_done();
  __syncthreads();
  if (threadIdx.x == 0) arrive_expect(bar, 512), load_3d(shared_address(box), in, bar, blockIdx.x * 16, blockIdx.y * 4, blockIdx.z * 2);
  wait(bar, 0);
  box[threadIdx.x] *= 2;
  fence_stores();
  __syncthreads();
  if (threadIdx.x == 0) store_3d(out, shared_address(box), blockIdx.x * 16, blockIdx.y * 4, blockIdx.z * 2), bulk_commit(), bulk_wait<0>();
}
