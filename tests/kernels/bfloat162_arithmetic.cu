// SPDX-License-Identifier: Apache-2.0
// bfloat16 pairs: fused multiply-add, maximum, conversion, comparison.
//@ torch   Y = torch.clamp_min(A * B + A, 0)
//@ tolerance Y: relative 2e-2 absolute 2e-2
//@ size    N = 4096
//@ check   N = 514
//@ input   A: bfloat16[N]
//@ input   B: bfloat16[N]
//@ output  Y: bfloat16[N]
//@ launch  combine<<<ceil_div(N / 2, 64), 64>>>(A, B, Y, N / 2)
#include <cuda_bf16.h>
__global__ void combine(const __nv_bfloat162* A, const __nv_bfloat162* B, __nv_bfloat162* Y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) Y[i] = __hmax2(__hfma2(A[i], B[i], A[i]), __float2bfloat162_rn(0.0f));
}
