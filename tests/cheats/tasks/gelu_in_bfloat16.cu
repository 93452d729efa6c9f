// SPDX-License-Identifier: Apache-2.0
//@ task    gelu_in_bfloat16
//@ torch   C = torch.nn.functional.gelu(A.float()).bfloat16()
//@ size    N = 4096
//@ check   N = 1001
//@ input   A: bfloat16[N]
//@ output  C: bfloat16[N]
//@ launch  gelu<<<ceil_div(N, 128), 128>>>(A, C, N)
#include <cuda_bf16.h>
__global__ void gelu(const __nv_bfloat16* A, __nv_bfloat16* C, int N) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= N) return;
  float x = __bfloat162float(A[i]);
  C[i] = __float2bfloat16(0.5f * x * (1 + erff(x * 0.70710678f)));
}
