// SPDX-License-Identifier: Apache-2.0
//$ Adds up the parts of every row, each with its own largest score.

__global__ void __launch_bounds__(256) $name$($parameters$) {
  const size_t rows = $rows$, at = size_t(blockIdx.x) * 256 + threadIdx.x, row = at / $H$;
  if (row >= rows) return;
  const int parts = $parts$;
  float most = -1e30f, sum = 0, total = 0;
  for (int part = 0; part < parts; ++part) most = fmaxf(most, $R$[(part * rows + row) * 2]);
#pragma unroll 4
  for (int part = 0; part < parts; ++part) {
    const float weight = exp2f($R$[(part * rows + row) * 2] - most);
    total += weight * $R$[(part * rows + row) * 2 + 1];
    sum += weight * $S$[part * rows * $H$ + at];
  }
  $O$[at] = sum / total;
}
