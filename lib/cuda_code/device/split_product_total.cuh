// SPDX-License-Identifier: Apache-2.0
//$ Adds up the parts of a product whose depth was split.

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
