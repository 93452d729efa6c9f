// SPDX-License-Identifier: Apache-2.0
// One wgmma.mma_async a block on tiles without swizzle, for tests/unit/sim/product_case.hpp. products.ptx is made of it as hopper.ptx is.
#include "hopper.cuh"
using namespace hopper;

template <int N, bool in_registers, class Multiply>
__device__ __forceinline__ void run(const uint4* a, const uint4* b, const float* c, float* out, Multiply multiply) {
  __shared__ __align__(128) uint4 left[128], right[2 * N];
  a += 128 * blockIdx.x, b += 2 * N * blockIdx.x, c += 64 * N * blockIdx.x, out += 64 * N * blockIdx.x;
  const int t = threadIdx.x;
  // Row r has two pieces of 16 bytes; eight rows of one piece lie together.
  left[t / 16 * 16 + t % 2 * 8 + t / 2 % 8] = a[t];
  for (int i = t; i < 2 * N; i += 128) right[i / 16 * 16 + i % 2 * 8 + i / 2 % 8] = b[i];
  fence_stores();
  __syncthreads();
  float d[N / 2];
#pragma unroll
  for (int i = 0; i < N / 2; ++i) d[i] = c[accumulator_row(t, i) * N + accumulator_column(t, i)];
  u32 f[4];
  if (in_registers)
    for (int r = 0; r < 4; ++r) f[r] = reinterpret_cast<const u32*>(a)[8 * (t / 32 * 16 + t % 32 / 4 + r % 2 * 8) + t % 4 + r / 2 * 4];
  product_fence();
  multiply(d, f, plain_descriptor(shared_address(left), 128, 256), plain_descriptor(shared_address(right), 128, 256));
  product_commit();
  product_wait<0>();
  hold(d);
#pragma unroll
  for (int i = 0; i < N / 2; ++i) out[accumulator_row(t, i) * N + accumulator_column(t, i)] = d[i];
}

#define SHARED_CASE(name, N, call)                                                                                       \
  extern "C" __global__ void name##_shared_##N(const uint4* a, const uint4* b, const float* c, float* out) {             \
    run<N, false>(a, b, c, out, [](float (&d)[N / 2], u32 (&)[4], u64 left, u64 right) { call(d, left, right, 1); });     \
  }
#define REGISTER_CASE(name, N, call)                                                                                     \
  extern "C" __global__ void name##_registers_##N(const uint4* a, const uint4* b, const float* c, float* out) {          \
    run<N, true>(a, b, c, out, [](float (&d)[N / 2], u32 (&f)[4], u64, u64 right) { call(d, f, right, 1); });             \
  }
SHARED_CASE(f16, 8, multiply_f16)
SHARED_CASE(f16, 64, multiply_f16)
SHARED_CASE(f16, 256, multiply_f16)
REGISTER_CASE(f16, 128, multiply_f16)
SHARED_CASE(bf16, 96, multiply_bf16)
SHARED_CASE(bf16, 192, multiply_bf16)
REGISTER_CASE(bf16, 64, multiply_bf16)
SHARED_CASE(tf32, 16, multiply_tf32)
SHARED_CASE(tf32, 32, multiply_tf32)
SHARED_CASE(tf32, 128, multiply_tf32)
REGISTER_CASE(tf32, 256, multiply_tf32)
SHARED_CASE(e4m3, 32, multiply_e4m3)
SHARED_CASE(e4m3, 128, multiply_e4m3)
REGISTER_CASE(e4m3, 64, multiply_e4m3)
