// SPDX-License-Identifier: Apache-2.0
// A matrix product of 64 x 64 tiles: one buffer (0), the next tile in registers (1), two buffers (2), asynchronous copies (3);
// the inner loop kept or unrolled.
//@ size    N = 2048
//@ check   N = 128
//@ input   A: float32[N, N]
//@ input   B: float32[N, N]
//@ output  C: float32[N, N]
//@ tune    FORM = 0 | 1 | 2 | 3
//@ tune    UNROLL = 1 | 16
//@ launch  matmul_pipeline<<<dim3(N / 64, N / 64), 256>>>(A, B, C, N)

__device__ void copy16(float* to, const float* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(unsigned(__cvta_generic_to_shared(to))), "l"(from));
}

__global__ void matmul_pipeline(const float* A, const float* B, float* C, int N) {
  constexpr int buffers = FORM >= 2 ? 2 : 1;
  __shared__ alignas(16) float a[buffers][64][16], b[buffers][16][64];
  int t = threadIdx.x, tx = t % 16, ty = t / 16, row = blockIdx.y * 64, column = blockIdx.x * 64;
  const float* from_a = A + (row + t / 4) * N + t % 4 * 4;
  const float* from_b = B + (t / 16) * N + column + t % 16 * 4;
  float sum[4][4] = {};
  float4 next_a, next_b;
  const auto fetch = [&](int start) {
    next_a = *reinterpret_cast<const float4*>(from_a + start);
    next_b = *reinterpret_cast<const float4*>(from_b + start * N);
  };
  const auto keep = [&](int buffer) {
    *reinterpret_cast<float4*>(&a[buffer][t / 4][t % 4 * 4]) = next_a;
    *reinterpret_cast<float4*>(&b[buffer][t / 16][t % 16 * 4]) = next_b;
  };
  const auto copy = [&](int buffer, int start) {
    copy16(&a[buffer][t / 4][t % 4 * 4], from_a + start);
    copy16(&b[buffer][t / 16][t % 16 * 4], from_b + start * N);
    asm volatile("cp.async.commit_group;");
  };
  const auto multiply = [&](int buffer) {
#pragma unroll UNROLL
    for (int k = 0; k < 16; ++k) {
      float x[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) x[i] = a[buffer][ty * 4 + i][k];
      float4 y = *reinterpret_cast<const float4*>(&b[buffer][k][tx * 4]);
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[i][0] += x[i] * y.x, sum[i][1] += x[i] * y.y, sum[i][2] += x[i] * y.z, sum[i][3] += x[i] * y.w;
    }
  };
  if constexpr (FORM == 0) {
    for (int start = 0; start < N; start += 16) {
      fetch(start);
      keep(0);
      __syncthreads();
      multiply(0);
      __syncthreads();
    }
  } else if constexpr (FORM == 1) {
    fetch(0);
    for (int start = 0; start < N; start += 16) {
      keep(0);
      __syncthreads();
      if (start + 16 < N) fetch(start + 16);
      multiply(0);
      __syncthreads();
    }
  } else if constexpr (FORM == 2) {
    fetch(0);
    keep(0);
    __syncthreads();
    for (int start = 0; start < N; start += 16) {
      int now = start / 16 % 2;
      if (start + 16 < N) fetch(start + 16);
      multiply(now);
      if (start + 16 < N) keep(1 - now);
      __syncthreads();
    }
  } else {
    copy(0, 0);
    for (int start = 0; start < N; start += 16) {
      int now = start / 16 % 2;
      if (start + 16 < N) {
        copy(1 - now, start + 16);
        asm volatile("cp.async.wait_group 1;");
      } else {
        asm volatile("cp.async.wait_group 0;");
      }
      __syncthreads();
      multiply(now);
      __syncthreads();
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    *reinterpret_cast<float4*>(C + (row + ty * 4 + i) * N + column + tx * 4) = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}
