// SPDX-License-Identifier: Apache-2.0
//$ Its tiles are those of tensor_tiles.cuh, half_tiles.cuh or double_tiles.cuh.

__global__ void __launch_bounds__(128, 2) $name$($parameters$) {
  const $element$* left = $left$;
  const $element$* right = $right$;
$coordinates$
$range$
  // Eight rows of tiles are walked together, so that the blocks at work share tiles of both factors in the L2.
  const int across = ($M$ + $columns$ - 1) / $columns$, down = ($N$ + $rows$ - 1) / $rows$;
  const int first = blockIdx.x / (8 * across) * 8, high = min(down - first, 8), within = blockIdx.x % (8 * across);
  const int row_start = (first + within % high) * $rows$, column_start = within / high * $columns$;
$needed$
  $sums$ sum[$rows$ / 32][$columns$ / 16][4] = {};
  if ($whole$)
    $tile$<true, $left_along$, $right_along$, $rows$, $columns$, $step$, $stages$>(sum, left, right, row_start, column_start, $N$, $M$, $K$, begin, end);
  else
    $tile$<false, $left_along$, $right_along$, $rows$, $columns$, $step$, $stages$>(sum, left, right, row_start, column_start, $N$, $M$, $K$, begin, end);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < $rows$ / 32; ++i)
#pragma unroll
    for (int j = 0; j < $columns$ / 16; ++j)
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        const int row = row_start + warp / 2 * ($rows$ / 2) + i * 16 + lane / 4 + q / 2 * 8;
        const int column = column_start + warp % 2 * ($columns$ / 2) + j * 8 + lane % 4 * 2 + q % 2;
        if (row >= $N$ || column >= $M$) continue;
$store$
      }
}
