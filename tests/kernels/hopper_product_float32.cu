// SPDX-License-Identifier: Apache-2.0
// A product as accurate as float32's own by three products of halves: each row of A and column of B is scaled by a power of two and split
// into two halves, and both corrections are added before the large product, 64 of k at a time, so that what Hopper's sums cut off stays
// small. Where a row or column holds infinities, NaN, or one element 2^20 above its mean, all is computed in float32 instead.
//@ torch   C = A @ B
//@ size    M = 1024, N = 1024, K = 1024
//@ check   M = 130, N = 136, K = 72
//@ check   M = 64, N = 50, K = 200
//@ input   A: float32[M, K]
//@ input   B: float32[K, N]
//@ output  C: float32[M, N]
//@ scratch AH: float16[M, ceil_div(K, 8) * 8]
//@ scratch AL: float16[M, ceil_div(K, 8) * 8]
//@ scratch BH: float16[K, ceil_div(N, 8) * 8]
//@ scratch BL: float16[K, ceil_div(N, 8) * 8]
//@ scratch RA: float32[M]
//@ scratch RB: float32[N]
//@ scratch ODD: int32[1]
//@ memset  ODD = 0
//@ launch  split_rows<<<M, 128>>>(A, AH, AL, RA, ODD, K, ceil_div(K, 8) * 8)
//@ launch  split_columns<<<ceil_div(N, 32), dim3(32, 8)>>>(B, BH, BL, RB, ODD, K, N, ceil_div(N, 8) * 8)
//@ launch  product<<<dim3(ceil_div(N, 128), ceil_div(M, 128)), 384, 3 * 65536 + 1024>>>(tensor_map(AH, axes(K, M), strides(ceil_div(K, 8) * 8), box(64, 128), swizzle(128)), tensor_map(AL, axes(K, M), strides(ceil_div(K, 8) * 8), box(64, 128), swizzle(128)), tensor_map(BH, axes(N, K), strides(ceil_div(N, 8) * 8), box(64, 64), swizzle(128)), tensor_map(BL, axes(N, K), strides(ceil_div(N, 8) * 8), box(64, 64), swizzle(128)), RA, RB, ODD, C, M, N, K)
//@ launch  plain_product<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, ODD, C, M, N, K)
#include "hopper.cuh"
#include <cuda_fp16.h>
using namespace hopper;
constexpr int stages = 3, tile = 128 * 64 * 2;

// 2^e with largest · 2^e in [2^14, 2^15).
__device__ float scale_for(float largest) { return largest > 0 ? ldexpf(1.0f, max(-126, min(126, 14 - ilogbf(largest)))) : 1.0f; }
// Infinities and NaN stay in the sum, whatever comes after them.
__device__ bool is_odd(float largest, float sum, int count) { return !(sum < INFINITY) || largest > 1048576.0f * (sum / count) || (largest > 0 && largest < 1e-30f); }
__device__ void split(float x, float scale, __half& high, __half& low) {
  high = __float2half_rn(x * scale);
  low = __float2half_rn(x * scale - __half2float(high));
}

__global__ void split_rows(const float* A, __half* high, __half* low, float* back, int* odd, int K, int pitch) {
  __shared__ float largest_of[4], sum_of[4];
  const float* a = A + (long long)blockIdx.x * K;
  float largest = 0, sum = 0;
  for (int k = threadIdx.x; k < K; k += 128) {
    const float x = fabsf(a[k]);
    largest = fmaxf(largest, x);
    sum += x;
  }
  for (int step = 16; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(0xffffffff, largest, step);
    largest = fmaxf(largest, other);
    sum += __shfl_xor_sync(0xffffffff, sum, step);
  }
  if (threadIdx.x % 32 == 0) largest_of[threadIdx.x / 32] = largest, sum_of[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int w = 0; w < 4; ++w) {
    largest = fmaxf(largest, largest_of[w]);
    sum += sum_of[w];
  }
  const float scale = scale_for(largest);
  if (threadIdx.x == 0) {
    back[blockIdx.x] = 1 / scale;
    if (is_odd(largest, sum, K)) atomicOr(odd, 1);
  }
  for (int k = threadIdx.x; k < pitch; k += 128) split(k < K ? a[k] : 0, scale, high[(long long)blockIdx.x * pitch + k], low[(long long)blockIdx.x * pitch + k]);
}

__global__ void split_columns(const float* B, __half* high, __half* low, float* back, int* odd, int K, int N, int pitch) {
  __shared__ float largest_of[8][32], sum_of[8][32];
  const int column = blockIdx.x * 32 + threadIdx.x;
  float largest = 0, sum = 0;
  if (column < N)
    for (int k = threadIdx.y; k < K; k += 8) {
      const float x = fabsf(B[(long long)k * N + column]);
      largest = fmaxf(largest, x);
      sum += x;
    }
  largest_of[threadIdx.y][threadIdx.x] = largest, sum_of[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  sum = 0;
  for (int w = 0; w < 8; ++w) {
    const float other = largest_of[w][threadIdx.x];
    largest = fmaxf(largest, other);
    sum += sum_of[w][threadIdx.x];
  }
  const float scale = scale_for(largest);
  if (threadIdx.y == 0 && column < N) {
    back[column] = 1 / scale;
    if (is_odd(largest, sum, K)) atomicOr(odd, 1);
  }
  if (column < pitch)
    for (int k = threadIdx.y; k < K; k += 8)
      split(column < N ? B[(long long)k * N + column] : 0, scale, high[(long long)k * pitch + column], low[(long long)k * pitch + column]);
}

__global__ __launch_bounds__(384, 1) void product(const __grid_constant__ CUtensorMap ah, const __grid_constant__ CUtensorMap al, const __grid_constant__ CUtensorMap bh,
                                                  const __grid_constant__ CUtensorMap bl, const float* RA, const float* RB, const int* odd, float* C, int M, int N, int K) {
  extern __shared__ char memory[];
  __shared__ __align__(8) u64 barriers[2 * stages];
  if (*odd) return;
  const u32 tiles = aligned(shared_address(memory)), full = shared_address(barriers), empty = full + 8 * stages;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) barrier_init(full + 8 * s, 1), barrier_init(empty + 8 * s, 2);
    barrier_init_done();
  }
  __syncthreads();
  const int steps = (K + 63) / 64, row = blockIdx.y * 128, column = blockIdx.x * 128;
  Ring<stages> ring;
  if (warpgroup() == 0) {
    give_registers<40>();
    if (threadIdx.x == 0)
      for (int k = 0; k < steps; ++k, ring.next()) {
        wait(empty + 8 * ring.slot, ring.parity ^ 1);
        const u32 slot = tiles + ring.slot * 4 * tile, bar = full + 8 * ring.slot;
        arrive_expect(bar, 4 * tile);
        load_2d(slot, ah, bar, 64 * k, row);
        load_2d(slot + tile, al, bar, 64 * k, row);
        load_2d(slot + 2 * tile, bh, bar, column, 64 * k);
        load_2d(slot + 2 * tile + tile / 2, bh, bar, column + 64, 64 * k);
        load_2d(slot + 3 * tile, bl, bar, column, 64 * k);
        load_2d(slot + 3 * tile + tile / 2, bl, bar, column + 64, 64 * k);
      }
  } else {
    take_registers<232>();
    const u32 half = warpgroup() - 1;
    float d[64], sum[64] = {};
    for (int k = 0; k < steps; ++k, ring.next()) {
      wait(full + 8 * ring.slot, ring.parity);
      const u32 slot = tiles + ring.slot * 4 * tile, a = slot + half * tile / 2;
      product_fence();
#pragma unroll
      for (int which = 0; which < 3; ++which) {
        const u32 left = which == 1 ? a + tile : a, right = slot + 2 * tile + (which == 0 ? tile : 0);
#pragma unroll
        for (int part = 0; part < 4; ++part)
          multiply_f16<0, 1>(d, descriptor(left + 32 * part), transposed_descriptor(right + 2048 * part, tile / 2), which > 0 || part > 0);
      }
      product_commit();
      product_wait<0>();
      hold(d);
      if (threadIdx.x % 128 == 0) arrive(empty + 8 * ring.slot);
#pragma unroll
      for (int i = 0; i < 64; ++i) sum[i] += d[i];
    }
    const int t = threadIdx.x % 128;
#pragma unroll
    for (int i = 0; i < 64; ++i) {
      const int m = row + 64 * half + accumulator_row(t, i), n = column + accumulator_column(t, i);
      if (m < M && n < N) C[(long long)m * N + n] = sum[i] * RA[m] * RB[n];
    }
  }
}

__global__ void plain_product(const float* A, const float* B, const int* odd, float* C, int M, int N, int K) {
  const int m = blockIdx.y * 16 + threadIdx.y, n = blockIdx.x * 16 + threadIdx.x;
  if (*odd == 0 || m >= M || n >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum = fmaf(A[(long long)m * K + k], B[(long long)k * N + n], sum);
  C[(long long)m * N + n] = sum;
}
