// SPDX-License-Identifier: Apache-2.0

__global__ void __launch_bounds__($threads$) $name$($parameters$) {
  constexpr int TILE = $tile$;
  const int across = ($columns$ + TILE - 1) / TILE;
  const int column_start = int(blockIdx.x % across) * TILE, row_start = int(blockIdx.x / across) * TILE;
$batch$
$tiles$
#pragma unroll
  for (int j = threadIdx.x / 32; j < TILE; j += $threads$ / 32) {
#pragma unroll
    for (int i = threadIdx.x % 32; i < TILE; i += 32) {
      const int row = row_start + i, column = column_start + j;
      if (row < $rows$ && column < $columns$) {
$loads$
      }
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = threadIdx.x / 32; i < TILE; i += $threads$ / 32) {
#pragma unroll
    for (int j = threadIdx.x % 32; j < TILE; j += 32) {
      const int row = row_start + i, column = column_start + j;
      if (row >= $rows$ || column >= $columns$) continue;
$uses$
      $Y$[$address$] = $value$;
    }
  }
}
