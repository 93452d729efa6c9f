// SPDX-License-Identifier: Apache-2.0
//$ Adds up the parts of a product whose depth was split.
//$ name = tensor_matmul_total
//$ parameters = const float* __restrict__ S, float* __restrict__ Y, int N, int M
//$ N = M
//$ M = N
//$ parts = 4
//$ S = S
//$ epilogue = 
//$ store = Y[size_t(row) * N + column] = produced;

__global__ void __launch_bounds__(256) $name$($parameters$) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at >= $N$ * $M$) return;
  const int row = at / $M$, column = at % $M$;
  float produced = 0;
#pragma unroll 8
  for (int part = 0; part < $parts$; ++part) produced += $S$[size_t(part) * $N$ * $M$ + at];
$epilogue$
  $store$
}
