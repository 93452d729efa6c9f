// SPDX-License-Identifier: Apache-2.0
// Comparisons of half pairs as values, masks and conditions, and the half-precision functions.
//@ size    N = 512
//@ check   N = 250
//@ input   A: float16[N]
//@ input   B: float16[N]
//@ output  Y: float16[N]
//@ output  Z: float32[N]
//@ tolerance Y: relative 1e-2 absolute 1e-2
//@ tolerance Z: relative 1e-3 absolute 1e-3
//@ launch  compare<<<ceil_div(N / 2, 64), 64>>>(A, B, Y, Z, N / 2)
#include <cuda_fp16.h>
__global__ void compare(const __half2* A, const __half2* B, __half2* Y, float* Z, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const __half2 a = A[i], b = B[i], one = __float2half2_rn(1.0f), p = __hadd2(__habs2(a), one);
  __half2 y = __hadd2(__hgt2(a, b), __hleu2(a, one));
  y = __hfma2(h2log2(p), h2rsqrt(p), y);
  y = __hadd2(y, __hmin2(__hmax2(h2sqrt(p), a), one));
  if (__hbge2(a, b)) y = __hadd2(y, h2exp2(__hneg2(p)));
  Y[i] = y;
  const unsigned mask = __hlt2_mask(a, b);
  Z[2 * i] = __low2float(a) * (mask & 1) + __half2float(hexp(__low2half(b))) + float(__half2int_rn(__high2half(a)));
  Z[2 * i + 1] = float(__popc(mask)) + __half2float(htrunc(__high2half(b))) + float(__heq(__low2half(a), __low2half(a)));
}
