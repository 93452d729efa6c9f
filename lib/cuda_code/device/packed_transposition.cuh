// SPDX-License-Identifier: Apache-2.0

__global__ void __launch_bounds__($threads$) $name$($parameters$) {
  constexpr int TILE = $tile$;
  const int across = ($columns$ + TILE - 1) / TILE;
  const int column_start = int(blockIdx.x % across) * TILE, row_start = int(blockIdx.x / across) * TILE;
$batch$
$tiles$
  const bool whole = $whole$;
#pragma unroll
  for (int patch = threadIdx.x; patch < TILE * TILE / 16; patch += $threads$) {
    const int i = patch % (TILE / 4) * 4, j = patch / (TILE / 4) * 4;
$loads$
  }
  __syncthreads();
#pragma unroll
  for (int pack = threadIdx.x; pack < TILE * TILE / 4; pack += $threads$) {
    const int i = pack / (TILE / 4), j = pack % (TILE / 4) * 4, row = row_start + i;
    if (row >= $rows$) continue;
    __align__(16) $type$ results[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const int column = column_start + j + q;
      if (column < $columns$) {
$uses$
        results[q] = $value$;
      }
    }
    const int column = column_start + j;
    $type$* to = $Y$ + $address$;
    if (whole && column < $columns$) {
      *reinterpret_cast<$type$4*>(to) = *reinterpret_cast<const $type$4*>(results);
    } else {
#pragma unroll
      for (int q = 0; q < 4; ++q)
        if (column + q < $columns$) to[q] = results[q];
    }
  }
}
